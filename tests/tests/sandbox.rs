//! A hostile guest leaves the host as it was, and still sees its own changes.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tests::command::Program;
use tests::compile::{self, PLAIN};
use tests::outcome::Outcome;
use tests::place;
use tests::tree::{Detail, Tree};

/// The files that the guest goes for; each holds its own name.
const FILES: [&str; 24] = [
    "overwritten",
    "truncated",
    "appended",
    "target",
    "absolute",
    "by-root",
    "by-cwd",
    "by-dots",
    "by-fd",
    "deleted",
    "renamed",
    "replacing",
    "replaced",
    "linked",
    "chmodded",
    "fchmodded",
    "chowned",
    "timed",
    "shortened",
    "shared",
    "lengthened",
    "pwritten",
    "copied-into",
    "d/below",
];

/// What the guest must see of its work.
const VIEW: &str = "\
view tree/overwritten: 100644 11 <OVERWRITTEN>
view tree/truncated: 100644 0 <>
view tree/appended: 100644 17 <appended and more>
view tree/created: 100644 7 <created>
view tree/target: 100644 14 <through a link>
view tree/absolute: 100644 8 <ABSOLUTE>
view tree/by-cwd: 100644 6 <by cwd>
view tree/by-dots: 100644 7 <by dots>
view tree/by-fd: 100644 5 <by fd>
view tree/deleted: ENOENT
view tree/empty: ENOENT
view tree/renamed: ENOENT
view tree/new-name: 100644 7 <renamed>
view tree/d: ENOENT
view tree/moved: 40755 0 <>
view tree/moved/below: 100644 7 <d/below>
view tree/replacing: ENOENT
view tree/replaced: 100644 9 <replacing>
view tree/linked: 100644 6 <linked>
view tree/hard: 100644 6 <linked>
view tree/soft: 120777 0 <>/etc/passwd
view tree/made: 40755 0 <>
view tree/chmodded: 107777 8 <chmodded>
view tree/shortened: 100644 1 <s>
view tree/pwritten: 100644 8 <PWPVtten>
view tree/copied-into: 100644 11 <ednked-into>
view outside: 100644 29 <through a link that leads out>
";

#[test]
fn a_hostile_guest_leaves_the_host_unchanged() {
    // Only the real thing may run this guest: anything else that answers to WHYDUNIT_BIN would let it loose.
    let version =
        Program::new([place::whydunit().as_os_str(), "--version".as_ref()]).run().expect("whydunit runs");
    assert!(version.stdout.starts_with(b"whydunit "), "WHYDUNIT_BIN is not whydunit: {version:?}");

    let scratch = place::scratch("sandbox");
    write_prey(&scratch);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port to listen on");
    listener.set_nonblocking(true).expect("a listener that can be asked");
    let port = listener.local_addr().expect("its address").port();
    let mut bystander = Bystander::start();
    let before = Tree::read(&scratch).expect("the tree can be read");

    let outcome = unleash(&scratch, port, bystander.0.id());

    let touched = before.differences(&Tree::read(&scratch).expect("the tree can be read"), Detail::All);
    assert!(touched.is_empty(), "the host was changed: {touched:#?}\n{outcome:?}");
    assert!(listener.accept().is_err(), "the guest connected to the host");
    assert_eq!(
        bystander.0.try_wait().expect("its state"),
        None,
        "the guest ended or signalled another process"
    );
    assert!(!outcome.panicked(), "{outcome:?}");
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    let view: String =
        stdout.lines().filter(|line| line.starts_with("view ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(view, VIEW, "the guest does not see its own changes\n{stdout}");
}

fn unleash(scratch: &Path, port: u16, bystander: u32) -> Outcome {
    let hostile = compile::compile(&place::guest("hostile.c"), PLAIN, &[]).expect("hostile.c compiles");
    let words = [hostile.into_os_string(), port.to_string().into(), bystander.to_string().into(), "9".into()];
    let guest = Program::new(words).under_whydunit::<&str>(&[]);
    // whydunit itself inherits an open, writable file: it must not hand it on.
    let shell = ["sh", "-c", "exec 9>>inherited; exec \"$@\"", "sh"].map(Into::into);
    let program =
        Program::new(shell.iter().chain(guest.words())).directory(scratch).timeout(Duration::from_secs(60));
    program.run().expect("whydunit ends")
}

fn write_prey(scratch: &Path) {
    let tree = scratch.join("tree");
    for directory in ["d", "empty"] {
        fs::create_dir_all(tree.join(directory)).expect("mkdir");
    }
    for file in FILES {
        fs::write(tree.join(file), file).expect("write");
    }
    for file in ["outside", "inherited"] {
        fs::write(scratch.join(file), file).expect("write");
    }
    symlink("target", tree.join("link")).expect("symlink");
    symlink("../outside", tree.join("out")).expect("symlink");
    let made = Command::new("mkfifo").arg(tree.join("fifo")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
}

/// A process that has nothing to do with the guest. It ends when it is sent a signal, even a harmless one.
struct Bystander(Child);

impl Bystander {
    fn start() -> Bystander {
        let mut child = Command::new("sh")
            .args(["-c", "trap 'exit 7' CONT; echo ready; while :; do sleep 0.05; done"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh runs");
        let mut ready = [0; 6];
        std::io::Read::read_exact(&mut child.stdout.take().expect("its output"), &mut ready)
            .expect("it gets ready");
        Bystander(child)
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_bystander_would_notice_a_signal() {
    let mut bystander = Bystander::start();
    let signalled = Command::new("sh").args(["-c", "kill -CONT $0", &bystander.0.id().to_string()]).status();
    assert!(signalled.is_ok_and(|status| status.success()));
    let deadline = Instant::now() + Duration::from_secs(10);
    while bystander.0.try_wait().expect("its state").is_none() {
        assert!(
            Instant::now() < deadline,
            "the bystander does not react to signals, so the sandbox test would prove nothing"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
