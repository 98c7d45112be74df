//! Bundles that are written and read, altered, cut, and made up.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use linux::Exit;
use linux::errno::Errno;
use linux::fs::{Attachment, HostEntry, HostPath, Timestamp};
use machine::{Time, Unwatched};

use super::format::MAGIC;
use super::*;

/// A small deterministic generator; the tests need variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

fn path(text: &str) -> HostPath {
    text.as_bytes().into()
}

fn entry(mode: u32, size: u64, target: &[u8]) -> HostEntry {
    let time = Timestamp { seconds: -5, nanoseconds: 999_999_999 };
    HostEntry {
        mode,
        user: 1,
        group: 2,
        links: 3,
        size,
        blocks: 8,
        device: u64::MAX,
        inode: 1 << 60,
        special_device: 7,
        access: time,
        modification: time,
        change: time,
        target: target.into(),
    }
}

/// One of everything, with contents that do not compress away.
fn small() -> Bundle {
    let mut random = Random(3);
    let noise: Vec<u8> = (0..2000).map(|_| random.below(256) as u8).collect();
    let mut capsule = Capsule::default();
    capsule.entries.insert(path("/"), Ok(entry(0o40755, 4096, b"")));
    capsule.entries.insert(path("/file"), Ok(entry(0o100644, 2000, b"")));
    capsule.entries.insert(path("/link"), Ok(entry(0o120777, 4, b"\xff\0file")));
    capsule.entries.insert(path("/none"), Err(Errno::ENOENT));
    let names = [&b"file"[..], b"link", b"strange \xfe\n"].map(Arc::from);
    capsule.listings.insert(path("/"), Ok(names.into_iter().collect()));
    capsule.listings.insert(path("/secret"), Err(Errno::EACCES));
    capsule.contents.insert(path("/file"), Ok(Arc::new(noise)));
    capsule.contents.insert(path("/secret/file"), Err(Errno::EACCES));
    let source =
        Attachment { content: Arc::new(b"int main;\n".to_vec()), modification: Timestamp::default() };
    capsule.attachments.insert(path("/src/main.c"), source);
    let mut case = Case::new("/file");
    case.argv = vec![Bytes::from(&b"\xff"[..]), Bytes::from("two")];
    case.stdin = Stdin::Bytes(Bytes::from(&[0x80; 300][..]));
    Bundle {
        case,
        input_by_lines: true,
        ending: Ending { time: 17, state: u64::MAX, kind: EndKind::Killed(11) },
        capsule: Arc::new(capsule),
        commands: Vec::new(),
        made_by: "a test".to_owned(),
    }
}

fn written(bundle: &Bundle) -> Vec<u8> {
    let mut file = Vec::new();
    bundle.write(&mut file).unwrap();
    file
}

fn refusal(file: &[u8]) -> BundleError {
    match Bundle::read(file) {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error,
    }
}

#[test]
fn what_is_written_is_read_whatever_bytes_it_has() {
    let bundle = small();
    let file = written(&bundle);
    let again = Bundle::read(&file).unwrap();
    assert_eq!(again.case, bundle.case);
    assert_eq!(again.capsule, bundle.capsule);
    assert_eq!((again.ending, again.input_by_lines), (bundle.ending, bundle.input_by_lines));
    assert!(is_bundle(&file) && !is_bundle(b"\x7fELF"));
}

#[test]
fn a_command_of_the_host_does_not_come_back_as_part_of_the_case() {
    let mut bundle = small();
    let command = Bytes::from("rm -rf ~");
    bundle.case.oracle.expectations = vec![Expectation::Exit(3), Expectation::Command(command.clone())];
    let again = Bundle::read(&written(&bundle)).unwrap();
    assert_eq!(again.case.oracle.expectations, [Expectation::Exit(3)]);
    assert_eq!(again.commands, [command]);
}

#[test]
fn a_file_that_is_cut_anywhere_says_where() {
    let file = written(&small());
    for length in 0..file.len() {
        assert_eq!(refusal(&file[..length]), BundleError::CutShort { at: length as u64 });
    }
    let text = refusal(&file[..700]).to_string();
    assert_eq!(text, "is cut short at byte 700; copy or record it again");
}

#[test]
fn any_altered_byte_is_noticed() {
    let file = written(&small());
    let mut kinds = BTreeMap::<String, usize>::new();
    for at in 0..file.len() {
        for flip in [1, 0x80, 0xff] {
            let mut altered = file.clone();
            altered[at] ^= flip;
            *kinds.entry(refusal(&altered).to_string()).or_default() += 1;
        }
    }
    let of = |text: &str| {
        kinds.iter().filter(|(told, _)| told.contains(text)).map(|(_, count)| count).sum::<usize>()
    };
    assert_eq!(of("is no bundle"), 3 * MAGIC.len());
    assert!(of("the content of /file does not match its hash") > 1000, "{kinds:#?}");
    assert!(of("the content of /src/main.c does not match its hash") > 10, "{kinds:#?}");
    assert!(of("the content of standard input does not match its hash") > 3, "{kinds:#?}");
    assert!(of("its table of contents does not match its hash") > 300, "{kinds:#?}");
    assert!(of("its header does not match its hash") > 100, "{kinds:#?}");
    assert!(of("its last hash does not match") >= 3 * 32, "{kinds:#?}");
}

#[test]
fn a_file_with_something_behind_it_is_refused() {
    let mut file = written(&small());
    file.push(0);
    assert_eq!(refusal(&file).to_string(), "is damaged: 1 bytes follow its end; copy or record it again");
}

#[test]
fn a_newer_format_is_told_before_anything_else_is_looked_at() {
    let mut file = written(&small());
    file[MAGIC.len()] = 2;
    file.truncate(25);
    let told = "was made by a newer whydunit (format 2); this one reads up to 1";
    assert_eq!(refusal(&file).to_string(), told);
}

/// The parts of a file, to be put together otherwise.
fn parts(bundle: &Bundle) -> (Packer, String) {
    let file = written(bundle);
    let opened = format::open(&file).unwrap();
    let manifest: Manifest = serde_json::from_slice(&opened.manifest).unwrap();
    let mut packer = Packer::default();
    for content in opened.unpack(&manifest.packed, |_| String::new()).unwrap() {
        packer.add(&content);
    }
    (packer, String::from_utf8(opened.manifest).unwrap())
}

/// The file with another manifest, and all hashes as they should be.
fn with_manifest(bundle: &Bundle, alter: impl FnOnce(String) -> String) -> Vec<u8> {
    let (packer, manifest) = parts(bundle);
    let mut file = Vec::new();
    packer.write(alter(manifest).as_bytes(), &mut file).unwrap();
    file
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let bundle = small();
    for (from, to) in [
        (r#"["file","link""#, r#"["..","link""#),
        (r#"["file","link""#, r#"["a/b","link""#),
        (r#"["file","link""#, r#"["","link""#),
        (r#"["file","link""#, r#"["a\u0000","link""#),
        (r#"["/none","#, r#"["/../none","#),
        (r#"["/none","#, r#"["none","#),
        (r#"["/none","#, r#"["/file","#),
        (r#"["/src/main.c","#, r#"["/src//main.c","#),
        (r#""error":2"#, r#""error":0"#),
        (r#""error":2"#, r#""error":-14"#),
        (r#"999999999]"#, r#"1000000000]"#),
        (r#""size":4096"#, r#""size":18446744073709551615"#),
        (r#""stdin":0"#, r#""stdin":99"#),
        (r#"{"is":1}"#, r#"{"is":77}"#),
        (r#""packed_size":"#, r#""packed_size":1"#),
        (r#""size":300"#, r#""size":30000000000"#),
    ] {
        let file = with_manifest(&bundle, |manifest| {
            assert!(manifest.contains(from), "{from} is not in {manifest}");
            manifest.replacen(from, to, 1)
        });
        let error = refusal(&file);
        assert!(matches!(error, BundleError::Nonsense { .. }), "{from} -> {to}: {error}");
    }
}

#[test]
fn a_content_that_says_to_be_larger_or_smaller_than_it_is_is_refused() {
    for wrong in ["299", "301", "1000000000"] {
        let file = with_manifest(&small(), |manifest| {
            manifest.replacen(r#""size":300"#, &format!(r#""size":{wrong}"#), 1)
        });
        let told = refusal(&file).to_string();
        assert!(told.contains("the content of standard input does not match its hash"), "{told}");
    }
}

/// Runs a program and bundles the run.
fn recorded(mut case: Case) -> Bundle {
    case.env = vec![Bytes::from("LC_ALL=C")];
    let mut process = case.load().unwrap();
    let beginning = process.fork();
    let exit = process.run(case.end(), &mut Unwatched);
    assert!(matches!(exit, Exit::Exited(_)), "{exit:?}");
    let bundle = Bundle::of(case, &process, &exit, &Scope::default(), &SourceMap::default());
    drop(beginning);
    bundle
}

fn shell(script: &str) -> Case {
    let mut case = Case::new("/bin/sh");
    case.argv = ["sh", "-c", script].map(Bytes::from).to_vec();
    case
}

#[test]
fn a_replay_is_the_same_run_and_asks_for_nothing_else() {
    let mut case =
        shell("read a; echo $a; for f in /etc/*; do test -e $f.none || echo $f; done; cd /nowhere; exit 7");
    case.stdin = Stdin::Bytes(Bytes::from("input\n"));
    let bundle = recorded(case);
    assert_eq!(bundle.ending.kind, EndKind::Exited(7));
    let bundle = Bundle::read(&written(&bundle)).unwrap();
    let mut process = bundle.sealed_case().load().unwrap();
    let exit = process.run(bundle.case.end(), &mut Unwatched);
    assert_eq!(Ending::of(&process, &exit), bundle.ending);
    assert!(process.kernel.warnings.list().is_empty(), "{:?}", process.kernel.warnings.list());
    // What came in a bundle can be bundled again.
    let again = Bundle::of(bundle.sealed_case(), &process, &exit, &Scope::default(), &SourceMap::default());
    assert_eq!(Bundle::read(&written(&again)).unwrap().case, bundle.case);
}

#[test]
fn a_run_that_leaves_the_recorded_one_finds_nothing_and_is_told_so() {
    let bundle = recorded(shell("test -e /etc/passwd; exit 0"));
    let mut other = bundle.clone();
    other.case.argv[2] = Bytes::from("test -e /etc/passwd && test -e /etc/group; exit $?");
    let mut process = other.sealed_case().load().unwrap();
    // A clone is told for itself.
    for mut process in [process.fork(), process] {
        assert_eq!(process.run(Time(u64::MAX), &mut Unwatched), Exit::Exited(1));
        let warnings = process.kernel.warnings.list();
        assert!(warnings.len() == 1 && warnings[0].contains("/etc/group"), "{warnings:?}");
    }
}

#[test]
fn what_explains_a_run_comes_from_its_bundle() {
    let bundle = small();
    let process = recorded(shell("exit 0"));
    let mut sealed = Capsule::clone(&process.capsule);
    sealed.attachments.clone_from(&bundle.capsule.attachments);
    let process = Bundle { capsule: Arc::new(sealed), ..process }.sealed_case().load().unwrap();
    let files = files_of(&process);
    assert_eq!(&**files.read(Path::new("/src/./x/../main.c"), 100).unwrap(), b"int main;\n");
    assert!(files.read(Path::new("/src/main.c"), 3).is_err());
    assert!(files.read(Path::new("/etc/passwd"), 1 << 20).is_err(), "the host's file is not the run's");
    assert!(files.modified(Path::new("/bin/nothing")).is_none());
}

/// Manifests with a byte or a number changed, their hashes made right: read and run, or refused, but no more.
#[test]
fn hostile_manifests_are_refused_or_run_within_bounds() {
    let mut bundle = recorded(shell("read x < /etc/passwd; echo /etc/p*; exit 3"));
    // Their debug files are large.
    Arc::make_mut(&mut bundle.capsule).attachments.clear();
    let (packer, manifest) = parts(&bundle);
    let mut random = Random(11);
    let (mut refused, mut ran) = (0, 0);
    let cases = if std::env::var_os("WHYDUNIT_LONG").is_some() { 2000 } else { 60 };
    for _ in 0..cases {
        let mut file = Vec::new();
        packer.write(mutated(manifest.clone(), &mut random).as_bytes(), &mut file).unwrap();
        let Ok(mut bundle) = Bundle::read(&file) else {
            refused += 1;
            continue;
        };
        bundle.case.limits.memory = bundle.case.limits.memory.min(64 << 20);
        bundle.case.limits.output = bundle.case.limits.output.min(1 << 20);
        if let Ok(mut process) = bundle.sealed_case().load() {
            process.run(Time(500_000), &mut Unwatched);
            let _ = process.kernel.files.changed_files();
            ran += 1;
        }
    }
    assert!(refused > 0 && ran > 0, "{refused} refused, {ran} ran");
}

/// A digit, a letter or a whole number changed somewhere.
fn mutated(manifest: String, random: &mut Random) -> String {
    let mut bytes = manifest.into_bytes();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let Some(found) = bytes[at..].iter().position(|byte| byte.is_ascii_digit()).map(|offset| at + offset)
        else {
            continue;
        };
        match random.below(4) {
            0 => bytes[found] = b'0' + random.below(10) as u8,
            1 => drop(
                bytes.splice(found..found, b"18446744073709551".iter().copied().take(1 + random.below(17))),
            ),
            2 => bytes[at] = b"/.a\"0,[]"[random.below(8)],
            _ => bytes[at] = bytes[random.below(bytes.len())],
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
