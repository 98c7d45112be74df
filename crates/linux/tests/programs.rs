//! Programs of the system, run here and natively: same output, same status. The wider set is in the integration
//! tests; these few make a broken loader or system call known where it belongs.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use linux::fs::Stream;
use linux::{Config, Exit, Process};
use machine::{Time, Unwatched};

const INPUT: &[u8] = b"pear\napple\nfig\napple\n";
const BUDGET: Time = Time(200_000_000);

fn config(program: &str, arguments: &[&str]) -> Config {
    let mut config = Config::new(program);
    config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    config.env = vec![b"LC_ALL=C".to_vec(), b"PATH=/usr/bin:/bin".to_vec()];
    config.stdin = Arc::new(INPUT.to_vec());
    config
}

fn check(program: &str, arguments: &[&str]) {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs([("LC_ALL", "C"), ("PATH", "/usr/bin:/bin")])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(INPUT);
    let native = child.wait_with_output().unwrap();

    let mut process = Process::load(&config(program, arguments)).unwrap();
    let exit = process.run(BUDGET, &mut Unwatched);
    let expected = match native.status.code() {
        Some(code) => Exit::Exited(code),
        None => Exit::Killed { signal: native.status.signal().unwrap(), fault: None },
    };
    let output = &process.kernel.output;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&output.contents(Stream::Stdout)), text(&native.stdout), "{program} {arguments:?}");
    assert_eq!(text(&output.contents(Stream::Stderr)), text(&native.stderr), "{program} {arguments:?}");
    assert_eq!(exit, expected, "{program} {arguments:?}");
    assert_eq!(process.kernel.warnings.list(), [""; 0], "{program} {arguments:?}");
}

#[test]
fn programs_print_and_return_what_they_do_natively() {
    check("/bin/true", &[]);
    check("/bin/false", &[]);
    check("/bin/echo", &["hello", "world"]);
    check("/bin/cat", &["-n", "-"]);
    check("/bin/cat", &["/etc/passwd", "/no/such/file"]);
    check("/usr/bin/sort", &["-u"]);
    check("/bin/ls", &["/usr"]);
    check("/bin/grep", &["-n", "p"]);
    check("/bin/sed", &["s/a/A/g"]);
    check("/usr/bin/md5sum", &["/bin/ls"]);
    check("/usr/bin/head", &["-c", "100000", "/dev/zero"]);
    check("/bin/sh", &["-c", "while read x; do echo \"<$x>\"; done; exit 3"]);
    check("/bin/sh", &["-c", "kill -SEGV $$"]);
    check("/bin/sh", &["-c", "cd /usr && pwd && echo $PWD; echo > /dev/full"]);
}

#[test]
fn a_run_repeats_itself_in_slices_and_in_clones() {
    let run = |slice: u64| {
        let mut process = Process::load(&config("/usr/bin/sort", &["-r"])).unwrap();
        while process.run(Time(process.machine.time.0 + slice), &mut Unwatched) == Exit::Until {
            process = process.fork();
        }
        (process.machine.time, process.state_hash())
    };
    let whole = run(BUDGET.0);
    for slice in [100_003, 1_009, 100_003] {
        assert_eq!(run(slice), whole, "slices of {slice}");
    }
}

#[test]
fn the_host_is_not_changed() {
    let directory = std::env::temp_dir().join(format!("whydunit-sandbox-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let kept = directory.join("kept");
    std::fs::write(&kept, "kept").unwrap();
    let script = "echo changed > kept; : > new; read x < kept; echo $x";
    let mut config = config("/bin/sh", &["-c", script]);
    config.cwd = directory.clone();
    let mut process = Process::load(&config).unwrap();
    assert_eq!(process.run(BUDGET, &mut Unwatched), Exit::Exited(0));
    assert_eq!(process.kernel.output.contents(Stream::Stdout), b"changed\n");
    let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let content = std::fs::read(&kept).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(content, b"kept");
    assert_eq!(names, [kept]);
}
