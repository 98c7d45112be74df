//! The overlay over the host: reading through, hiding, cloning, limits, and leaving the host alone.

use super::*;

#[test]
fn the_host_shows_through_and_is_never_changed() {
    let scratch = Scratch::new();
    scratch.file("a", b"host a");
    scratch.file("b", b"host b");
    scratch.directory("d");
    scratch.file("d/x", b"x");
    scratch.symlink("l", "a");
    let before = scratch.tree();
    let mut world = scratch.world();
    assert_eq!(world.get("a").unwrap(), b"host a");
    assert_eq!(world.get("l").unwrap(), b"host a");
    world.put("a", b"guest").unwrap();
    world.put("new", b"new").unwrap();
    world.unlink(at("b"), NOW).unwrap();
    world.rename(at("d"), at("e"), 0, NOW).unwrap();
    let target = world.locate(at("e/x"), Follow::Yes, false).unwrap();
    world.change_mode(target, 0o600, NOW).unwrap();
    world.truncate(at("e/x"), 100, NOW).unwrap();
    world.set_times(target, SetTime::Now, SetTime::Now, NOW).unwrap();
    world.change_owner(target, Some(7), Some(8), NOW).unwrap();
    assert_eq!(world.get("l").unwrap(), b"guest");
    assert_eq!(world.names("."), ["a", "e", "l", "new"]);
    assert_eq!(world.get("b"), Err(Errno::ENOENT));
    assert_eq!(world.get("d/x"), Err(Errno::ENOENT));
    assert_eq!(world.get("e/x").unwrap()[..2], *b"x\0");
    assert_eq!(scratch.tree(), before);
}

#[test]
fn a_clone_and_its_original_go_separate_ways() {
    let scratch = Scratch::new();
    scratch.file("a", &[b'h'; 200_000]);
    let mut world = scratch.world();
    let descriptor = world.try_open("a", O_RDWR).unwrap();
    world.write(descriptor, b"first", NOW).unwrap();
    let mut clone = world.clone();
    world.write(descriptor, b"original", NOW).unwrap();
    clone.write(descriptor, b"clone", NOW).unwrap();
    clone.unlink(at("a"), NOW).unwrap();
    assert_eq!(world.get("a").unwrap()[..14], *b"firstoriginalh");
    assert_eq!(clone.get("a"), Err(Errno::ENOENT));
    assert_eq!(clone.read_at(descriptor, 0, 11).unwrap(), b"firstcloneh");
    assert_eq!(clone.seek(descriptor, 0, SEEK_CUR).unwrap(), 10);
}

#[test]
fn attributes_and_times_of_untouched_files_are_those_of_the_host() {
    let scratch = Scratch::new();
    scratch.file("a", &[1; 5000]);
    let host = fs::symlink_metadata(scratch.path().join("a")).unwrap();
    let mut world = scratch.world();
    let stat = world.stat_path("a").unwrap();
    assert_eq!(stat.mode, host.mode());
    assert_eq!((stat.size, stat.blocks, stat.links), (host.size(), host.blocks(), host.nlink()));
    assert_eq!(stat.modification.seconds, host.mtime());
    assert_eq!(i64::from(stat.modification.nanoseconds), host.mtime_nsec());
    world.put("a", b"x").unwrap();
    assert_eq!(world.stat_path("a").unwrap().modification, NOW);
    assert_eq!(world.stat_path("a").unwrap().inode, stat.inode);
}

#[test]
fn names_of_one_host_file_are_one_node() {
    let scratch = Scratch::new();
    scratch.file("a", b"old");
    fs::hard_link(scratch.path().join("a"), scratch.path().join("b")).unwrap();
    let mut world = scratch.world();
    assert_eq!(world.stat_path("a").unwrap().inode, world.stat_path("b").unwrap().inode);
    world.put("a", b"new").unwrap();
    assert_eq!(world.get("b").unwrap(), b"new");
    world.unlink(at("a"), NOW).unwrap();
    assert_eq!(world.get("b").unwrap(), b"new");
    assert_eq!(world.stat_path("b").unwrap().links, 1);
}

#[test]
fn the_overlay_has_a_limit_and_gives_space_back() {
    let scratch = Scratch::new();
    let mut setup = scratch.setup();
    setup.overlay_limit = 1 << 20;
    let mut world = FileSystem::new(&setup).unwrap();
    let start = world.overlay_bytes();
    assert_eq!(world.put("a", &[0; 2 << 20]), Err(Errno::ENOSPC));
    world.put("a", &[0; 900_000]).unwrap();
    assert_eq!(world.put("b", &[0; 900_000]), Err(Errno::ENOSPC));
    world.unlink(at("a"), NOW).unwrap();
    world.put("b", &[0; 900_000]).unwrap();
    world.unlink(at("b"), NOW).unwrap();
    assert_eq!(world.overlay_bytes(), start);
    let mut made = 0;
    while world.make_directory(at(&format!("d{made}")), 0o755, NOW).is_ok() {
        made += 1;
    }
    assert!((100..4000).contains(&made), "{made} directories in a megabyte");
}

#[test]
fn changed_files_lists_what_differs_and_nothing_else() {
    let scratch = Scratch::new();
    scratch.file("same", b"1");
    scratch.file("altered", b"2");
    scratch.file("gone", b"3");
    scratch.directory("tree");
    scratch.directory("tree/sub");
    scratch.file("tree/sub/leaf", b"leaf");
    let mut world = scratch.world();
    world.get("same").unwrap();
    world.put("altered", b"guest").unwrap();
    world.unlink(at("gone"), NOW).unwrap();
    world.put("temporary", b"").unwrap();
    world.unlink(at("temporary"), NOW).unwrap();
    world.rename(at("tree"), at("moved"), 0, NOW).unwrap();
    world.make_symlink(b"altered", at("link"), NOW).unwrap();
    world.put("/dev/shm/x", b"shared").unwrap();
    let prefix = scratch.path().components().count() - 1;
    let changes = world.changed_files().unwrap();
    let listed: Vec<(String, bool)> = changes
        .iter()
        .map(|change| {
            let path = change.path[prefix..].join(&b'/');
            let kind = match &change.kind {
                ChangeKind::File { content, .. } => format!("={}", String::from_utf8_lossy(content)),
                ChangeKind::Directory { .. } => "/".to_string(),
                ChangeKind::Symlink { target } => format!("->{}", String::from_utf8_lossy(target)),
                ChangeKind::Removed => "-".to_string(),
            };
            (String::from_utf8(path).unwrap() + &kind, change.existed)
        })
        .collect();
    let expected = [
        ("altered=guest", true),
        ("gone-", true),
        ("link->altered", false),
        ("moved/", false),
        ("moved/sub/", false),
        ("moved/sub/leaf=leaf", false),
        ("tree-", true),
    ];
    assert_eq!(listed, expected.map(|(text, existed)| (text.to_string(), existed)));
}

#[test]
fn an_export_larger_than_memory_is_refused() {
    let scratch = Scratch::new();
    let mut world = scratch.world();
    for number in 0..3 {
        let name = format!("hole{number}");
        world.put(&name, b"").unwrap();
        world.truncate(at(&name), (1 << 30) - 1, NOW).unwrap();
    }
    assert_eq!(world.changed_files(), Err(Errno::ENOMEM));
}

#[test]
fn listings_are_in_the_hosts_order_and_survive_removal_while_reading() {
    let scratch = Scratch::new();
    for name in ["c", "a", "b"] {
        scratch.file(name, b"");
    }
    let on_host: Vec<String> = std::fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut world = scratch.world();
    world.put("ab", b"").unwrap();
    let descriptor = world.try_open(".", O_RDONLY).unwrap();
    let mut seen = Vec::new();
    for _ in 0..10 {
        let mut one = None;
        world
            .read_directory(descriptor, |entry| {
                let first = one.is_none();
                one.get_or_insert(String::from_utf8(entry.name.to_vec()).unwrap());
                first
            })
            .unwrap();
        let Some(name) = one else { break };
        if name == on_host[0] {
            world.unlink(at(&on_host[2]), NOW).unwrap();
        }
        if !name.starts_with('.') {
            world.unlink(at(&name), NOW).unwrap();
        }
        seen.push(name);
    }
    assert_eq!(seen, [".", "..", on_host[0].as_str(), on_host[1].as_str(), "ab"]);
    world.put("z", b"").unwrap();
    world.seek(descriptor, 0, SEEK_SET).unwrap();
    let mut again = Vec::new();
    world
        .read_directory(descriptor, |entry| {
            again.push(entry.name.to_vec());
            true
        })
        .unwrap();
    assert_eq!(again, [&b"."[..], b"..", b"z"]);
}

#[test]
fn a_removed_file_lives_on_while_it_is_open() {
    let scratch = Scratch::new();
    scratch.file("a", b"content");
    let mut world = scratch.world();
    let descriptor = world.try_open("a", O_RDWR).unwrap();
    world.unlink(at("a"), NOW).unwrap();
    assert_eq!(world.read(descriptor, 3).unwrap(), b"con");
    assert_eq!(world.stat_descriptor(descriptor).unwrap().links, 0);
    world.put("a", b"other").unwrap();
    assert_eq!(world.read(descriptor, 9).unwrap(), b"tent");
    world.close(descriptor).unwrap();
    assert_eq!(world.get("a").unwrap(), b"other");
}

#[test]
fn a_file_replaced_by_a_rename_lives_on_while_it_is_open() {
    let scratch = Scratch::new();
    scratch.file("a", b"old");
    scratch.file("b", b"new");
    let mut world = scratch.world();
    let descriptor = world.try_open("a", O_RDONLY).unwrap();
    world.rename(at("b"), at("a"), 0, NOW).unwrap();
    assert_eq!(world.read(descriptor, 9).unwrap(), b"old");
    assert_eq!(world.get("a").unwrap(), b"new");
}

#[test]
fn host_fifos_can_be_seen_and_not_opened() {
    let scratch = Scratch::new();
    scratch.fifo("pipe");
    let mut world = scratch.world();
    assert_eq!(world.stat_path("pipe").unwrap().mode & S_IFMT, S_IFIFO);
    assert_eq!(world.try_open("pipe", O_RDONLY), Err(Errno::ENXIO));
    assert_eq!(world.try_open("pipe", O_RDWR), Err(Errno::ENXIO));
    world.unlink(at("pipe"), NOW).unwrap();
    assert_eq!(world.names("."), Vec::<String>::new());
}
