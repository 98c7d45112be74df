//! Descriptors, open files, pipes and standard streams.

use super::*;

#[test]
fn numbers_are_the_lowest_free_ones_and_limited() {
    let scratch = Scratch::new();
    scratch.file("a", b"");
    let mut world = scratch.world();
    assert_eq!(world.try_open("a", O_RDONLY), Ok(3));
    assert_eq!(world.try_open("a", O_RDONLY), Ok(4));
    world.close(3).unwrap();
    assert_eq!(world.duplicate(4, 0, false), Ok(3));
    assert_eq!(world.duplicate(4, 10, true), Ok(10));
    assert!(world.close_on_exec(10).unwrap());
    for _ in 6..MAX_DESCRIPTORS {
        world.try_open("a", O_RDONLY).unwrap();
    }
    assert_eq!(world.try_open("a", O_RDONLY), Err(Errno::EMFILE));
    assert_eq!(world.try_open("new", O_RDWR | O_CREAT), Err(Errno::EMFILE));
    assert_eq!(world.stat_path("new"), Err(Errno::ENOENT));
    assert_eq!(world.pipe(0, false), Err(Errno::EMFILE));
    world.close(500).unwrap();
    assert_eq!(world.pipe(0, false), Err(Errno::EMFILE));
    assert_eq!(world.try_open("a", O_RDONLY), Ok(500));
    world.close_range(3, u32::MAX, false).unwrap();
    assert_eq!(world.open_descriptors(), [0, 1, 2]);
    assert_eq!(world.close(3), Err(Errno::EBADF));
}

#[test]
fn duplicates_share_the_offset_and_separate_opens_do_not() {
    let scratch = Scratch::new();
    scratch.file("a", b"abcdef");
    let mut world = scratch.world();
    let first = world.try_open("a", O_RDONLY).unwrap();
    let second = world.try_open("a", O_RDONLY).unwrap();
    let copy = world.duplicate_to(first, 20, false).unwrap();
    assert_eq!(world.read(first, 2).unwrap(), b"ab");
    assert_eq!(world.read(copy, 2).unwrap(), b"cd");
    assert_eq!(world.read(second, 2).unwrap(), b"ab");
    world.close(first).unwrap();
    assert_eq!(world.read(copy, 9).unwrap(), b"ef");
    assert_eq!(world.duplicate_to(copy, copy, false), Ok(copy));
    assert_eq!(world.duplicate_to(copy, MAX_DESCRIPTORS, false), Err(Errno::EBADF));
}

#[test]
fn access_modes_are_kept() {
    let scratch = Scratch::new();
    scratch.file("a", b"abc");
    let mut world = scratch.world();
    let reader = world.try_open("a", O_RDONLY).unwrap();
    let writer = world.try_open("a", O_WRONLY).unwrap();
    let path = world.try_open("a", O_PATH).unwrap();
    assert_eq!(world.write(reader, b"x", NOW), Err(Errno::EBADF.into()));
    assert_eq!(world.read(writer, 1), Err(Errno::EBADF.into()));
    assert_eq!(world.read(path, 1), Err(Errno::EBADF.into()));
    assert_eq!(world.seek(path, 0, SEEK_SET), Err(Errno::EBADF));
    assert_eq!(world.stat_descriptor(path).unwrap().size, 3);
    assert_eq!(world.truncate_descriptor(reader, 0, NOW), Err(Errno::EINVAL));
}

#[test]
fn appending_goes_to_the_end_whatever_the_offset() {
    let scratch = Scratch::new();
    scratch.file("a", b"abc");
    let mut world = scratch.world();
    let descriptor = world.try_open("a", O_RDWR | O_APPEND).unwrap();
    world.write(descriptor, b"d", NOW).unwrap();
    world.seek(descriptor, 0, SEEK_SET).unwrap();
    world.write(descriptor, b"e", NOW).unwrap();
    assert_eq!(world.seek(descriptor, 0, SEEK_CUR), Ok(5));
    assert_eq!(world.get("a").unwrap(), b"abcde");
    world.set_status_flags(descriptor, 0).unwrap();
    world.seek(descriptor, -5, SEEK_END).unwrap();
    world.write(descriptor, b"X", NOW).unwrap();
    assert_eq!(world.get("a").unwrap(), b"Xbcde");
}

#[test]
fn seeking_knows_its_bounds() {
    let scratch = Scratch::new();
    scratch.file("a", b"abc");
    let mut world = scratch.world();
    let descriptor = world.try_open("a", O_RDWR).unwrap();
    assert_eq!(world.seek(descriptor, -1, SEEK_SET), Err(Errno::EINVAL));
    assert_eq!(world.seek(descriptor, i64::MAX, SEEK_END), Err(Errno::EINVAL));
    assert_eq!(world.seek(descriptor, 2, SEEK_END), Ok(5));
    assert_eq!(world.read(descriptor, 5).unwrap(), b"");
    world.write(descriptor, b"f", NOW).unwrap();
    assert_eq!(world.get("a").unwrap(), b"abc\0\0f");
    assert_eq!(world.seek(descriptor, 1, SEEK_DATA), Ok(1));
    assert_eq!(world.seek(descriptor, 1, SEEK_HOLE), Ok(6));
    assert_eq!(world.seek(descriptor, 6, SEEK_DATA), Err(Errno::ENXIO));
    assert_eq!(world.seek(0, 0, SEEK_SET), Err(Errno::ESPIPE));
    assert_eq!(world.write_at(descriptor, u64::MAX, b"x", NOW), Err(Errno::EFBIG.into()));
}

#[test]
fn pipes_end_when_the_last_duplicate_is_closed() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    let (reader, writer) = world.pipe(0, false).unwrap();
    let copy = world.duplicate(writer, 0, false).unwrap();
    world.write(writer, b"data", NOW).unwrap();
    assert_eq!(world.available(reader), Ok(4));
    world.close(writer).unwrap();
    assert_eq!(world.read(reader, 9).unwrap(), b"data");
    assert_eq!(world.read(reader, 9), Err(IoError::Deadlock));
    assert!(!world.readiness(reader).unwrap().readable);
    world.close(copy).unwrap();
    assert_eq!(world.read(reader, 9).unwrap(), b"");
    assert!(world.readiness(reader).unwrap().hangup);
    let (reader, writer) = world.pipe(O_NONBLOCK, false).unwrap();
    assert_eq!(world.read(reader, 1), Err(Errno::EAGAIN.into()));
    world.close(reader).unwrap();
    assert_eq!(world.write(writer, b"x", NOW), Err(Errno::EPIPE.into()));
    assert!(world.readiness(writer).unwrap().broken);
}

#[test]
fn standard_streams_are_pipes_unless_a_file_or_a_terminal_is_asked_for() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    assert_eq!(world.read(0, 3).unwrap(), b"inp");
    assert_eq!(world.read(0, 30).unwrap(), b"ut");
    assert_eq!(world.read(0, 30).unwrap(), b"");
    assert_eq!(world.write(1, b"x", NOW), Ok(Written::Output(Stream::Stdout)));
    assert_eq!(world.write(2, b"x", NOW), Ok(Written::Output(Stream::Stderr)));
    assert_eq!(world.stat_descriptor(1).unwrap().mode & S_IFMT, S_IFIFO);
    assert_ne!(world.stat_descriptor(1), world.stat_descriptor(2));
    assert_eq!(world.is_terminal(1), Ok(false));

    let mut setup = scratch.setup();
    setup.streams = StandardStreams::FileInput;
    let mut world = FileSystem::new(&setup).unwrap();
    assert_eq!(world.stat_descriptor(0).unwrap().mode & S_IFMT, S_IFREG);
    assert_eq!(world.seek(0, -2, SEEK_END), Ok(3));
    assert_eq!(world.read(0, 9).unwrap(), b"ut");

    setup.streams = StandardStreams::Terminal;
    let world = FileSystem::new(&setup).unwrap();
    assert_eq!(world.is_terminal(0), Ok(true));
    assert_eq!(world.stat_descriptor(2).unwrap().mode & S_IFMT, S_IFCHR);
}

#[test]
fn a_nameless_file_can_get_a_name_later() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    let descriptor = world.try_open(".", O_RDWR | O_DIRECTORY | O_TMPFILE_BIT).unwrap();
    world.write(descriptor, b"late", NOW).unwrap();
    assert_eq!(world.names("."), Vec::<String>::new());
    world.make_link(At::new(descriptor, b""), at("named"), false, true, NOW).unwrap();
    world.close(descriptor).unwrap();
    assert_eq!(world.get("named").unwrap(), b"late");
}
