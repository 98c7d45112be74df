//! A guest that tries to make us keep more than it pays for.

use super::super::resolve::Target;
use super::*;

#[test]
fn names_that_come_and_go_leave_nothing_behind() {
    let scratch = Scratch::new();
    scratch.file("host", b"");
    let mut world = scratch.world();
    world.names(".");
    let before = world.overlay_bytes();
    for number in 0..100 {
        let (name, other) = (format!("name{number}"), format!("other{number}"));
        world.put(&name, b"x").unwrap();
        world.rename(at(&name), at(&other), 0, NOW).unwrap();
        world.unlink(at(&other), NOW).unwrap();
    }
    world.unlink(at("host"), NOW).unwrap();
    assert_eq!(world.names("."), Vec::<String>::new());
    assert_eq!(world.stat_path("host"), Err(Errno::ENOENT));
    let Ok(Target::Node(directory)) = world.locate(at("."), Follow::Yes, false) else { panic!() };
    let entries = &world.tree.node(directory).unwrap().directory().unwrap().entries;
    assert_eq!(entries.size(), 1, "only what the host has needs a mark");
    assert_eq!(world.overlay_bytes(), before);
}

#[test]
fn what_an_open_file_keeps_is_paid_for_until_it_is_closed() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    world.make_directory(at("d"), 0o755, NOW).unwrap();
    for number in 0..100 {
        world.put(&format!("d/{number}"), b"").unwrap();
    }
    let before = world.overlay_bytes();
    let directory = world.try_open("d", O_RDONLY).unwrap();
    world.read_directory(directory, |_| true).unwrap();
    let listed = world.overlay_bytes();
    assert!(listed >= before + 100 * 16);
    world.seek(directory, 0, SEEK_SET).unwrap();
    assert_eq!(world.overlay_bytes(), before);
    world.read_directory(directory, |_| true).unwrap();
    let text = world.try_open("/proc/self/maps", O_RDONLY).unwrap();
    assert!(world.overlay_bytes() > listed);
    world.close(text).unwrap();
    world.close(directory).unwrap();
    assert_eq!(world.overlay_bytes(), before);
}

#[test]
fn a_path_that_no_call_could_name_is_not_told() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    let name = "n".repeat(250);
    for _ in 0..20 {
        world.make_directory(at(&name), 0o755, NOW).unwrap();
        world.change_directory(at(&name)).unwrap();
    }
    assert_eq!(world.working_directory(), Err(Errno::ENAMETOOLONG));
    let file = world.try_open("f", O_RDWR | O_CREAT).unwrap();
    let link = format!("/proc/self/fd/{file}");
    assert_eq!(world.read_link(at(&link), false), Err(Errno::ENAMETOOLONG));
    world.write(file, b"x", NOW).unwrap();
    assert_eq!(&*world.mapping(file).unwrap().name, "");
}
