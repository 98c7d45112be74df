//! Names: corner cases of resolution, renames and whiteouts that deserve to be spelled out.

use super::*;

#[test]
fn a_directory_made_where_one_was_removed_does_not_show_the_hosts_files() {
    let scratch = Scratch::new();
    scratch.directory("d");
    scratch.file("d/x", b"x");
    let mut world = scratch.world();
    world.unlink(at("d/x"), NOW).unwrap();
    world.remove_directory(at("d"), NOW).unwrap();
    world.make_directory(at("d"), 0o755, NOW).unwrap();
    assert_eq!(world.names("d"), Vec::<String>::new());
    assert_eq!(world.get("d/x"), Err(Errno::ENOENT));
}

#[test]
fn a_moved_directory_takes_its_host_files_along_and_can_come_back() {
    let scratch = Scratch::new();
    scratch.directory("d");
    scratch.directory("d/sub");
    scratch.file("d/sub/x", b"x");
    let mut world = scratch.world();
    world.rename(at("d"), at("e"), 0, NOW).unwrap();
    world.put("e/sub/y", b"y").unwrap();
    assert_eq!(world.names("e/sub"), ["x", "y"]);
    assert_eq!(world.names("."), ["e"]);
    world.make_directory(at("d"), 0o755, NOW).unwrap();
    world.rename(at("e"), at("d"), 0, NOW).unwrap();
    assert_eq!(world.get("d/sub/x").unwrap(), b"x");
    assert_eq!(world.stat_path("d/sub/.."), world.stat_path("d"));
}

#[test]
fn rename_refuses_to_move_a_directory_into_itself() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    world.make_directory(at("a"), 0o755, NOW).unwrap();
    world.make_directory(at("a/b"), 0o755, NOW).unwrap();
    assert_eq!(world.rename(at("a"), at("a/b/c"), 0, NOW), Err(Errno::EINVAL));
    assert_eq!(world.rename(at("a/b"), at("a"), 0, NOW), Err(Errno::ENOTEMPTY));
}

#[test]
fn exchange_swaps_two_names() {
    let scratch = Scratch::new();
    scratch.file("a", b"a");
    scratch.directory("d");
    scratch.file("d/x", b"x");
    let mut world = scratch.world();
    world.rename(at("a"), at("d"), RENAME_EXCHANGE, NOW).unwrap();
    assert_eq!(world.get("d").unwrap(), b"a");
    assert_eq!(world.get("a/x").unwrap(), b"x");
    assert_eq!(world.rename(at("a"), at("d"), RENAME_NOREPLACE, NOW), Err(Errno::EEXIST));
}

#[test]
fn links_are_followed_by_us_so_that_the_overlay_is_seen() {
    let scratch = Scratch::new();
    scratch.directory("real");
    scratch.file("real/x", b"host");
    scratch.symlink("link", "real");
    scratch.symlink("absolute", &format!("{}/real", scratch.path().display()));
    let mut world = scratch.world();
    world.put("link/x", b"guest").unwrap();
    assert_eq!(world.get("absolute/x").unwrap(), b"guest");
    world.rename(at("real"), at("other"), 0, NOW).unwrap();
    assert_eq!(world.get("link/x"), Err(Errno::ENOENT));
    assert_eq!(world.read_link(at("link"), false).unwrap(), b"real");
    assert_eq!(world.try_open("link", O_RDONLY | O_NOFOLLOW), Err(Errno::ELOOP));
}

#[test]
fn endless_and_long_chains_of_links_are_eloop() {
    let scratch = Scratch::new();
    scratch.symlink("self", "self");
    let mut world = scratch.world();
    assert_eq!(world.get("self"), Err(Errno::ELOOP));
    world.put("l0", b"end").unwrap();
    for i in 1..=41 {
        world.make_symlink(format!("l{}", i - 1).as_bytes(), at(&format!("l{i}")), NOW).unwrap();
    }
    assert_eq!(world.get("l40").unwrap(), b"end");
    assert_eq!(world.get("l41"), Err(Errno::ELOOP));
}

#[test]
fn long_names_and_paths_are_refused() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    assert_eq!(world.put(&"n".repeat(256), b""), Err(Errno::ENAMETOOLONG));
    world.put(&"n".repeat(255), b"").unwrap();
    assert_eq!(world.get(&"./".repeat(2048)), Err(Errno::ENAMETOOLONG));
    assert_eq!(world.stat_path(&"./".repeat(2047)).unwrap().mode & S_IFMT, S_IFDIR);
    assert_eq!(world.get(""), Err(Errno::ENOENT));
}

#[test]
fn a_removed_working_directory_has_no_path_and_takes_no_names() {
    let scratch = Scratch::new();
    scratch.directory("d");
    let mut world = scratch.world();
    world.change_directory(at("d")).unwrap();
    assert_eq!(world.working_directory().unwrap(), scratch.absolute("d"));
    world.remove_directory(at("../d"), NOW).unwrap();
    assert_eq!(world.working_directory(), Err(Errno::ENOENT));
    assert_eq!(world.put("x", b""), Err(Errno::ENOENT));
    assert_eq!(world.make_directory(at("x"), 0o755, NOW), Err(Errno::ENOENT));
    world.change_directory(at("..")).unwrap();
    assert_eq!(world.working_directory().unwrap(), scratch.absolute(""));
}

#[test]
fn very_deep_directories_are_no_danger() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    for _ in 0..20_000 {
        world.make_directory(at("d"), 0o755, NOW).unwrap();
        world.change_directory(at("d")).unwrap();
    }
    assert_eq!(world.working_directory(), Err(Errno::ENAMETOOLONG));
    assert_eq!(world.changed_files(), Err(Errno::ENAMETOOLONG));
}

#[test]
fn another_user_meets_the_permission_bits() {
    let scratch = Scratch::new();
    scratch.file("secret", b"");
    fs::set_permissions(scratch.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    scratch.directory("closed");
    scratch.file("closed/x", b"");
    fs::set_permissions(scratch.path().join("closed"), fs::Permissions::from_mode(0o744)).unwrap();
    let owner = fs::metadata(scratch.path()).unwrap().uid();
    let mut world = scratch.world();
    world.make_directory(at("sticky"), 0o777, NOW).unwrap();
    let sticky = world.locate(at("sticky"), Follow::Yes, false).unwrap();
    world.change_mode(sticky, 0o1777, NOW).unwrap();
    world.put("sticky/root", b"").unwrap();
    world.set_credentials(Credentials { user: owner + 1234, group: 4321, groups: Arc::from(&[][..]) });
    assert_eq!(world.get("secret"), Err(Errno::EACCES));
    assert_eq!(world.get("closed/x"), Err(Errno::EACCES));
    assert_eq!(world.names("closed"), ["x"]);
    assert_eq!(world.put("new", b""), Err(Errno::EACCES));
    assert_eq!(world.unlink(at("secret"), NOW), Err(Errno::EACCES));
    assert_eq!(world.change_mode(sticky, 0o777, NOW), Err(Errno::EPERM));
    world.put("sticky/mine", b"").unwrap();
    assert_eq!(world.unlink(at("sticky/root"), NOW), Err(Errno::EPERM));
    world.unlink(at("sticky/mine"), NOW).unwrap();
}
