//! /dev, /proc and /sys.

use super::*;

#[test]
fn devices_behave() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    assert_eq!(world.get("/dev/null").unwrap(), b"");
    let zero = world.try_open("/dev/zero", O_RDWR).unwrap();
    assert_eq!(world.read(zero, 4).unwrap(), [0; 4]);
    assert_eq!(world.write(zero, b"abc", NOW), Ok(Written::Count(3)));
    let full = world.try_open("/dev/full", O_RDWR).unwrap();
    assert_eq!(world.write(full, b"abc", NOW), Err(Errno::ENOSPC.into()));
    assert_eq!(world.try_open("/dev/tty", O_RDWR), Err(Errno::ENXIO));
    assert_eq!(world.try_open("/dev/sda", O_RDONLY), Err(Errno::ENOENT));
    assert_eq!(world.stat_path("/dev/null").unwrap().special_device, device_number(1, 3));
    world.put("/dev/null", b"swallowed").unwrap();
    assert_eq!(world.get("/dev/null").unwrap(), b"");
}

#[test]
fn randomness_is_the_same_in_every_world() {
    let scratch = Scratch::new();
    let read = |mut world: FileSystem| {
        let descriptor = world.try_open("/dev/urandom", O_RDONLY).unwrap();
        world.read(descriptor, 32).unwrap()
    };
    assert_eq!(read(scratch.world()), read(scratch.world()));
    assert_ne!(read(scratch.world()), [0; 32]);
}

#[test]
fn proc_tells_of_the_guest_and_not_of_the_host() {
    let scratch = Scratch::new();
    scratch.file("program", b"elf");
    let mut world = scratch.world();
    world.set_executable(&scratch.absolute("program"));
    assert_eq!(world.get("/proc/self/maps").unwrap(), b"Maps");
    assert_eq!(world.get("/proc/4242/cmdline").unwrap(), b"CommandLine");
    assert_eq!(world.read_link(at("/proc/self/exe"), false).unwrap(), scratch.absolute("program"));
    assert_eq!(world.get("/proc/self/exe").unwrap(), b"elf");
    assert_eq!(world.read_link(at("/proc/self/cwd"), false).unwrap(), scratch.absolute(""));
    assert_eq!(world.get("/proc/self/cwd/program").unwrap(), b"elf");
    assert_eq!(world.get("/proc/1/status"), Err(Errno::ENOENT));
    assert_eq!(world.get("/proc/self/cwd/../../proc/1/status"), Err(Errno::ENOENT));
    assert_eq!(world.get("/sys/devices/system/cpu/online").unwrap(), b"0\n");
    assert_eq!(world.get("/sys/class"), Err(Errno::ENOENT));
    assert!(world.get("/proc/meminfo").unwrap().starts_with(b"MemTotal:        1048576 kB\n"));
}

#[test]
fn proc_and_sys_cannot_be_changed() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    assert_eq!(world.put("/proc/new", b""), Err(Errno::EACCES));
    assert_eq!(world.put("/proc/self/maps", b""), Err(Errno::EACCES));
    assert_eq!(world.unlink(at("/proc/meminfo"), NOW), Err(Errno::EPERM));
    assert_eq!(world.remove_directory(at("/sys"), NOW), Err(Errno::EBUSY));
    assert_eq!(world.rename(at("/proc"), at("/other"), 0, NOW), Err(Errno::EBUSY));
    assert_eq!(world.truncate(at("/proc/meminfo"), 0, NOW), Err(Errno::EINVAL));
}

#[test]
fn descriptors_are_files_in_proc() {
    let scratch = Scratch::new();
    scratch.file("a", b"content");
    scratch.directory("d");
    scratch.file("d/x", b"x");
    let mut world = scratch.world();
    let file = world.try_open("a", O_RDONLY).unwrap();
    let directory = world.try_open("d", O_RDONLY).unwrap();
    let (reader, writer) = world.pipe(0, false).unwrap();
    assert_eq!(world.names("/proc/self/fd"), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(world.read_link(at("/proc/self/fd/3"), false).unwrap(), scratch.absolute("a"));
    assert_eq!(world.get(&format!("/dev/fd/{directory}/x")).unwrap(), b"x");
    world.unlink(at("a"), NOW).unwrap();
    let deleted = [scratch.absolute("a"), b" (deleted)".to_vec()].concat();
    assert_eq!(world.read_link(at("/proc/self/fd/3"), false).unwrap(), deleted);
    assert_eq!(world.get(&format!("/proc/self/fd/{file}")).unwrap(), b"content");
    let reopened = world.try_open("/proc/self/fd/3", O_RDONLY).unwrap();
    assert_eq!(world.read_link(at(&format!("/proc/self/fd/{reopened}")), false).unwrap(), deleted);
    let again = world.try_open(&format!("/dev/fd/{writer}"), O_WRONLY).unwrap();
    world.write(again, b"through", NOW).unwrap();
    assert_eq!(world.read(reader, 9).unwrap(), b"through");
    assert!(world.read_link(at("/proc/self/fd/5"), false).unwrap().starts_with(b"pipe:["));
    let output = world.try_open("/dev/stdout", O_WRONLY).unwrap();
    assert_eq!(world.write(output, b"", NOW), Ok(Written::Output(Stream::Stdout)));
    assert_eq!(world.get("/dev/stdin").unwrap(), b"input");
    assert_eq!(world.get("/proc/self/fd/99"), Err(Errno::ENOENT));
}
