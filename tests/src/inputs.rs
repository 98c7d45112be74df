//! The files that real programs are run on: text, tables, binary data, archives and a directory tree, the same on
//! every machine, byte for byte and second for second.

use std::ffi::CString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every file is this old (2001-09-09): long past for a native run, so that `ls -l` shows the year, whatever the guest's clock says.
const MODIFIED: i64 = 1_000_000_000;

const VOCABULARY: [&str; 48] = [
    "the",
    "fault",
    "of",
    "a",
    "program",
    "and",
    "its",
    "cause",
    "in",
    "memory",
    "value",
    "is",
    "read",
    "written",
    "to",
    "branch",
    "when",
    "condition",
    "holds",
    "not",
    "loop",
    "ends",
    "after",
    "pointer",
    "list",
    "node",
    "sum",
    "was",
    "wrong",
    "Because",
    "index",
    "array",
    "Limit",
    "error",
    "output",
    "line",
    "by",
    "one",
    "zero",
    "never",
    "always",
    "state",
    "machine",
    "trace",
    "slice",
    "why",
    "who",
    "done",
];

/// Fills `directory`, which must be empty.
pub fn write_all(directory: &Path) -> io::Result<()> {
    let mut numbers = Numbers(0x5eed);
    let prose = prose(&mut numbers, 300_000);
    let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes);
    write("prose.txt", prose.as_bytes())?;
    let short = prose.get(..40_000).unwrap_or(&prose);
    write("short.txt", short.as_bytes())?;
    write("edited.txt", edited(short).as_bytes())?;
    write("numbers.txt", numbers_file(&mut numbers, 20_000).as_bytes())?;
    write("table.tsv", table(&mut numbers, 4_000).as_bytes())?;
    write("left.txt", keyed(&mut numbers, "left", 2_000, 3).as_bytes())?;
    write("right.txt", keyed(&mut numbers, "right", 2_000, 2).as_bytes())?;
    write("data.bin", &binary(&mut numbers, 200_000))?;
    write("empty", b"")?;
    write("script.sed", b"s/\\([a-z]*\\) of \\([a-z]*\\)/\\2 of \\1/g\n/never/{\ns/^/>> /\nH\n}\n$!{\n/loop/d\n}\n${\nG\ny/abc/xyz/\n}\n")?;
    write("macros.m4", MACROS.as_bytes())?;
    write("sums.bc", SUMS.as_bytes())?;
    write("report.awk", REPORT.as_bytes())?;
    write("queries.sql", include_bytes!("inputs/queries.sql"))?;
    write("values.py", include_bytes!("inputs/values.py"))?;
    write("text.pl", include_bytes!("inputs/text.pl"))?;
    write("tables.lua", include_bytes!("inputs/tables.lua"))?;
    write("records.json", RECORDS.as_bytes())?;
    write("history.import", HISTORY.as_bytes())?;
    write_tree(&directory.join("tree"), &mut numbers)?;
    set_times(directory)?;
    let pack = |program: &str, arguments: &[&str], output: &str| pack(directory, program, arguments, output);
    pack("gzip", &["-9", "-n", "-c", "prose.txt"], "prose.txt.gz")?;
    pack("bzip2", &["-9", "-c", "prose.txt"], "prose.txt.bz2")?;
    pack("xz", &["-6", "-c", "short.txt"], "short.txt.xz")?;
    pack("tar", &["-c", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "tree"], "tree.tar")?;
    pack("base64", &["data.bin"], "data.base64")?;
    write_repository(directory)?;
    pack("sha256sum", &["prose.txt", "data.bin", "empty"], "SHA256SUMS")?;
    set_times(directory)
}

/// A small generator of numbers that look random (xorshift*), the same for all time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn word(&mut self) -> &'static str {
        // The smaller of two draws: some words are frequent, as in real text.
        let at = self.below(48).min(self.below(48));
        VOCABULARY.get(at as usize).copied().unwrap_or("the")
    }
}

fn prose(numbers: &mut Numbers, size: usize) -> String {
    let mut text = String::with_capacity(size + 100);
    while text.len() < size {
        for position in 0..4 + numbers.below(10) {
            if position > 0 {
                text.push(if numbers.below(20) == 0 { '\t' } else { ' ' });
            }
            text.push_str(numbers.word());
            if numbers.below(9) == 0 {
                let _ = write!(text, "{}", numbers.below(10_000));
            }
        }
        text.push_str(if numbers.below(40) == 0 { ".\n\n" } else { ".\n" });
    }
    text
}

/// The text with some lines changed, dropped, added and swapped, for diff.
fn edited(text: &str) -> String {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match number % 37 {
            5 => lines.push(line.replace("the", "The")),
            11 => {}
            20 => lines.extend([line.to_owned(), "a line of its own".to_owned()]),
            30 => lines.insert(lines.len().saturating_sub(1), line.to_owned()),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

fn numbers_file(numbers: &mut Numbers, lines: usize) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        let digits = 10u64.pow(1 + numbers.below(9) as u32);
        let sign = if numbers.below(5) == 0 { "-" } else { "" };
        let _ = writeln!(text, "{sign}{}", numbers.below(digits));
    }
    text
}

fn table(numbers: &mut Numbers, lines: usize) -> String {
    let mut text = String::from("id\tname\tcount\tplace\n");
    for id in 0..lines {
        let (name, count, place) = (numbers.word(), numbers.below(1000), numbers.word());
        let _ = writeln!(text, "{id}\t{name}\t{count}\t{place}");
    }
    text
}

/// Lines with ascending, partly missing keys, for join and comm.
fn keyed(numbers: &mut Numbers, side: &str, keys: usize, every: u64) -> String {
    let mut text = String::new();
    for key in 0..keys {
        if numbers.below(every) == 0 {
            let _ = writeln!(text, "k{key:06} {side} {}", numbers.word());
        }
    }
    text
}

/// Noise, runs and counters: what compressors like, dislike and stumble over.
fn binary(numbers: &mut Numbers, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size + 1000);
    while bytes.len() < size {
        let length = 1 + numbers.below(900) as usize;
        match numbers.below(3) {
            0 => bytes.extend((0..length).map(|_| numbers.next() as u8)),
            1 => bytes.extend(std::iter::repeat_n(numbers.next() as u8, length)),
            _ => bytes.extend((0..length).map(|n| n as u8)),
        }
    }
    bytes.truncate(size);
    bytes
}

fn write_tree(tree: &Path, numbers: &mut Numbers) -> io::Result<()> {
    for (number, directory) in
        ["", "src", "src/deep/er/and/deeper", "docs", "empty", ".hidden"].iter().enumerate()
    {
        let directory = tree.join(directory);
        fs::create_dir_all(&directory)?;
        for file in 0..number % 4 {
            let length = numbers.below(5000) as usize;
            let path = directory.join(format!("file{file}.{}", ["c", "h", "txt"].get(file).unwrap_or(&"o")));
            fs::write(&path, prose(numbers, length))?;
            let mode = [0o644, 0o755, 0o600, 0o444].get(numbers.below(4) as usize).copied().unwrap_or(0o644);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
    }
    fs::write(tree.join("a name with spaces"), "spaces\n")?;
    fs::write(tree.join(format!("long{}", "-name".repeat(24))), "long\n")?;
    fs::set_permissions(tree.join("docs"), fs::Permissions::from_mode(0o750))?;
    symlink("src/file0.c", tree.join("link"))?;
    symlink("nowhere", tree.join("dangling"))?;
    symlink("../src", tree.join("docs/up"))
}

fn pack(directory: &Path, program: &str, arguments: &[&str], output: &str) -> io::Result<()> {
    let file = fs::File::create(directory.join(output))?;
    let status = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(file)
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} failed: {status}"))) }
}

/// A repository of three commits. Its objects are those of the import, whatever git makes of them here.
fn write_repository(directory: &Path) -> io::Result<()> {
    let git = |arguments: &[&str], input: Stdio| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory).stdin(input).stdout(Stdio::null());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        match command.status()? {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(format!("git failed: {status}"))),
        }
    };
    git(&["init", "-q", "--template=", "-b", "main", "history"], Stdio::null())?;
    let import = fs::File::open(directory.join("history.import"))?;
    git(
        &[
            "-C",
            "history",
            "-c",
            "core.logAllRefUpdates=false",
            "fast-import",
            "--quiet",
            "--date-format=raw",
        ],
        import.into(),
    )
}

/// Gives everything below `path`, links included, its fixed time.
fn set_times(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        for child in fs::read_dir(path)? {
            set_times(&child?.path())?;
        }
    }
    let name = CString::new(path.as_os_str().as_bytes())?;
    let time = libc::timespec { tv_sec: MODIFIED, tv_nsec: 0 };
    // SAFETY: the name ends in a zero and the array holds the two times that utimensat reads.
    let failed = unsafe {
        libc::utimensat(libc::AT_FDCWD, name.as_ptr(), [time, time].as_ptr(), libc::AT_SYMLINK_NOFOLLOW)
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

const RECORDS: &str = r#"[{"name": "list.c", "faults": [1, 2.5, null], "open": true},
 {"name": "tree.c", "faults": [], "open": false}, {"name": "\u00e9 \"main\"", "faults": [1e3, -0.1], "deep": {"a": {"b": [3]}}}]
"#;

const HISTORY: &str = "blob
mark :1
data <<END
one
two
six
END
blob
mark :2
data <<END
one
three
seven
END
commit refs/heads/main
mark :3
committer A Person <a@example.org> 1000000000 +0200
data <<END
Begin the list
END
M 100644 :1 list.txt

commit refs/heads/main
mark :4
committer Another <b@example.org> 1000003600 -0500
data <<END
Count on

With a text of its own.
END
from :3
M 100644 :2 list.txt

commit refs/heads/main
mark :5
committer A Person <a@example.org> 1000007200 +0000
data <<END
Add a copy
END
from :4
M 100755 :2 copy/list.txt

";

const MACROS: &str = "define(`fact', `ifelse($1, 0, 1, `eval($1 * fact(decr($1)))')')dnl
define(`forloop', `pushdef(`$1', `$2')_forloop($@)popdef(`$1')')dnl
define(`_forloop', `$4`'ifelse($1, $3, `', `define(`$1', incr($1))$0($@)')')dnl
forloop(`i', 1, 12, `fact(i) = eval(i * i, 16) len(`fact(i)') translit(`abc', `a-c', `A-C')
')
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(decr($1)) + fib(eval($1 - 2)))')')dnl
fib(15) substr(`whodunit', 3) regexp(`slices of traces', `\\([a-z]+\\) of', `<\\1>') index(`needle in hay', `hay')
divert(1)later
divert(0)sooner
undivert(1)dnl
";

const SUMS: &str = "scale=40
define f(n) { if (n <= 1) return 1; return n * f(n-1) }
f(60)
sqrt(2)
1/7
for (i = 0; i < 30; i++) { s += 1 / (i * i + 1) }
s
2^521-1
(2^521-1) % 1000003
obase=16
f(30)
ibase=2
10110101
";

const REPORT: &str = "BEGIN { FS = \"\\t\" }
NR > 1 { count[$2] += $3; seen[$4]++; longest = length($2) > length(longest) ? $2 : longest }
END {
    for (name in count) printf \"%-12s %6d %s\\n\", name, count[name], toupper(substr(name, 1, 3)) seen[name]
    print longest, NR, length(count)
}
";
