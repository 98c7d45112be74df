//! `whydunit explain --format html` as browsers see it. Chromium opens pages within a page of the tests, which looks at them with the
//! means of a browser and leaves what it saw in its own text.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Scratch, skip};
use serde_json::Value;

/// Far more than it takes, on a machine that does much else.
const LONGEST: Duration = Duration::from_secs(150);
/// A short answer takes no more sheets of paper.
const MOST_PAGES: usize = 5;
/// Looks at a page: its texts, links, widths and colours.
const PROBE: &str = include_str!("explain_page/probe.js");

fn source_of(name: &str) -> String {
    let path = match name {
        "triangle" => "../../examples/triangle/triangle.c".to_owned(),
        _ => format!("../locate/tests/programs/{name}.c"),
    };
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// A failing run that is to be explained, in a directory of its own.
struct Failing {
    scratch: Scratch,
    options: Vec<String>,
    command: Vec<String>,
    input: &'static str,
}

impl Failing {
    fn new(scratch: Scratch, options: &[&str], command: &[&str], input: &'static str) -> Failing {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Failing { scratch, options: owned(options), command: owned(command), input }
    }

    fn explain(&self, format: &[&str]) -> String {
        let mut words = vec!["explain"];
        words.extend(format);
        words.extend(self.options.iter().map(String::as_str));
        words.push("--");
        words.extend(self.command.iter().map(String::as_str));
        let ran = self.scratch.whydunit_apart(&words, self.input.as_bytes());
        assert!(ran.status <= 1, "{ran:?}");
        ran.stdout
    }

    fn page(&self) -> String {
        self.explain(&["--format", "html"])
    }

    /// What programs are told.
    fn answer(&self) -> Value {
        serde_json::from_str(&self.explain(&["--format", "json"])).unwrap()
    }
}

fn triangle(test: &str) -> Failing {
    let scratch = Scratch::new(&format!("page-triangle-{test}"));
    scratch.compile("triangle", &source_of("triangle"), &["-O0", "-lm"]);
    Failing::new(scratch, &["--expect-stdout", "9.92"], &["./triangle", "6", "5", "4"], "")
}

fn records(test: &str) -> Failing {
    let scratch = Scratch::new(&format!("page-records-{test}"));
    scratch.compile("records", &source_of("records"), &["-O0", "-w"]);
    let expected = "3 4 7 10 12\nlarge 1\nevens 3, last six 53";
    let input = "3 one\n10 two\n12 three\n7 four\nnone\n4 six\n";
    Failing::new(scratch, &["--expect-stdout", expected], &["./records"], input)
}

fn crash(test: &str) -> Failing {
    let scratch = Scratch::new(&format!("page-crash-{test}"));
    let source = "#include <stdio.h>\nint main(int argc, char **argv)\n{\nconst char *name = argc > 1 ? argv[0] : NULL;\n\
                  fputs(\"on the way\\n\", stderr);\n\
                  printf(\"%c\\n\", name[0]);\nreturn 0;\n}\n";
    scratch.compile("crash", source, &["-O0"]);
    Failing::new(scratch, &[], &["./crash"], "")
}

fn computed(test: &str) -> Failing {
    let scratch = Scratch::new(&format!("page-computed-{test}"));
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n\
                  int width = atoi(argv[1]), height = atoi(argv[2]);\nint area = width + height;\n\
                  if (argc > 3)\nreturn 2;\nprintf(\"%d\\n\", area);\nreturn 0;\n}\n";
    scratch.compile("computed", source, &["-O0"]);
    Failing::new(scratch, &["--expect-stdout", "12"], &["./computed", "3", "4"], "")
}

/// What would be markup if it were not kept from it.
const MARKUP: &str = "</script></title></style></td><script>document.title='taken'</script><img src=x><b>";

/// A program that does its worst: its source, the name of that, its arguments and its output.
fn hostile(test: &str) -> Failing {
    let scratch = Scratch::new(&format!("page-hostile-{test}"));
    let source = format!(
        "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv)\n{{\n/* {MARKUP} \u{202e}desrever\u{2066} */\n// caf\u{fffd}\n    \
         const char *text = \"{MARKUP}\";\n    int length = 0; // {MARKUP} {}\n    if (strlen(argv[1]) > 3)\n        length = 1;\n    \
         printf(\"%s\\033[31m\\377\\342\\200\\256 %d\\n\", argv[1], length);\n    return text[0] == 0;\n}}\n",
        "long ".repeat(4000)
    );
    // A byte that is no UTF-8 stands in the source as it does in the output.
    let mut bytes = source.into_bytes();
    while let Some(at) = bytes.windows(3).position(|three| three == [0xef, 0xbf, 0xbd]) {
        bytes.splice(at..at + 3, [0xe9]);
    }
    let name = "a\"><img src=y onerror=alert(1)>'&lt;.c";
    std::fs::write(scratch.path().join(name), bytes).unwrap();
    let compiled =
        Command::new("gcc").current_dir(scratch.path()).args(["-g", "-w", "-o", "hostile", name]).status();
    assert!(compiled.unwrap().success());
    let mut expected = MARKUP.as_bytes().to_vec();
    expected.extend_from_slice(b"\x1b[31m\xff\xe2\x80\xae 0\n");
    std::fs::write(scratch.path().join("expected"), expected).unwrap();
    Failing::new(scratch, &["--expect-stdout", "@expected"], &["./hostile", MARKUP], "")
}

/// Runs Chromium with no way to any network, and gives what it wrote to its two streams.
fn chromium(scratch: &Scratch, options: &[&str], page: &Path) -> (String, String) {
    let (out, errors) = (scratch.path().join("chromium.out"), scratch.path().join("chromium.err"));
    let mut child = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000"])
        .arg(format!("--user-data-dir={}", scratch.path().join("profile").display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdout(std::fs::File::create(&out).unwrap())
        .stderr(std::fs::File::create(&errors).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let read = |path: &PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    loop {
        if child.try_wait().unwrap().is_some() {
            return (read(&out), read(&errors));
        }
        if begun.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("chromium did not end: {}", read(&errors));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_there() -> bool {
    let found =
        Command::new("chromium").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        skip("explain_page", "there is no chromium");
    }
    found
}

/// What Chromium sees of pages, each in frames of the widths of a screen and of a phone; and what it said in its log.
fn look_at(scratch: &Scratch, pages: &[&str], options: &[&str]) -> (Vec<(Value, Value)>, String) {
    let escape = |page: &str| page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = |page: &str, width: u32, height: u32| {
        format!("<iframe width={width} height={height} frameborder=0 srcdoc=\"{}\"></iframe>\n", escape(page))
    };
    let frames = pages.iter().map(|page| frame(page, 1280, 600) + &frame(page, 360, 740));
    let text = format!(
        "<!DOCTYPE html><meta charset=utf-8><body>{}<script>{PROBE}</script>",
        frames.collect::<String>()
    );
    let (dom, log) =
        chromium(scratch, &[&["--dump-dom"], options].concat(), &scratch.write("frames.html", &text));
    let seen = dom.split_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let seen = seen.unwrap_or_else(|| panic!("no answer: {log}\n{dom}")).0;
    let seen =
        seen.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let seen: Vec<Value> = serde_json::from_str(&seen).unwrap();
    let pairs = seen.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    (pairs, log)
}

/// That a page is whole and reaches for nothing outside of itself.
#[track_caller]
fn is_sound(seen: &Value) {
    for empty in ["dangling", "outside", "resources", "doubles", "pale", "errors"] {
        assert_eq!(seen[empty], serde_json::json!([]), "{empty}");
    }
    assert_eq!(seen["width"], seen["room"], "the page is wider than its window");
    assert_eq!(seen["scripts"], 1);
}

/// That the page tells what programs are told: steps in their order with places, texts and values, and their lines in the source.
#[track_caller]
fn tells(seen: &Value, answer: &Value) {
    let cause = &answer["findings"][0]["causes"][0];
    let (path, steps) = (cause["path"].as_array().unwrap(), seen["steps"].as_array().unwrap());
    assert_eq!(path.len(), steps.len());
    assert!(path.len() > 1);
    for (at, (told, shown)) in path.iter().zip(steps).enumerate() {
        let shown_text = shown["text"].as_str().unwrap();
        let line = &told["place"]["line"];
        let place = format!("{}:{line}", told["place"]["file"].as_str().unwrap());
        assert_eq!(shown["place"], place);
        assert!(shown_text.contains(told["text"].as_str().unwrap()), "{shown_text}");
        // The line in the source has the number of the step.
        let row = seen["rows"].as_array().unwrap().iter().find(|row| row["id"] == shown["leads"]).unwrap();
        assert_eq!(&row["line"], line);
        assert!(row["marks"].as_array().unwrap().contains(&serde_json::json!((at + 1).to_string())), "{row}");
        let is_shown = |known: &Value| {
            let value = known["value"].as_str().unwrap_or_default();
            assert!(shown_text.contains(known["name"].as_str().unwrap()), "{shown_text}: {known}");
            assert!(shown_text.contains(value), "{shown_text}: {known}");
        };
        // The decision that is the cause may be another than the one that the story tells of.
        let values = if at == 0 { &cause["condition"]["operands"] } else { &told["made"] };
        values.as_array().unwrap().iter().for_each(is_shown);
        if at > 0 {
            told["used"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|used| used["is_address"] == false)
                .for_each(is_shown);
        }
    }
    let text = seen["text"].as_str().unwrap();
    for read in cause["reading"].as_array().unwrap() {
        assert!(text.contains(read["text"].as_str().unwrap()), "{read}");
    }
    assert!(text.contains(cause["otherwise"].as_str().unwrap()));
    assert_eq!(seen["causes"], serde_json::json!([cause["condition"]["place"]["line"].to_string()]));
}

#[test]
fn pages_tell_the_whole_answer_on_screens_and_phones() {
    if !is_there() {
        return;
    }
    let scratch = Scratch::new("page-light");
    let failing = [triangle("light"), records("light"), crash("light"), computed("light"), hostile("light")];
    let pages = failing.each_ref().map(Failing::page);
    let pages = pages.each_ref().map(String::as_str);
    let (seen, log) = look_at(&scratch, &pages, &[]);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    for (screen, phone) in &seen {
        is_sound(screen);
        is_sound(phone);
        assert_eq!(screen["dark"], false);
        assert_eq!((&screen["room"], &phone["room"]), (&1280.into(), &360.into()));
    }
    for at in [0, 1, 2, 4] {
        tells(&seen[at].0, &failing[at].answer());
        // Two presses of a key come to the second step, and its line is to be seen.
        assert_eq!(seen[at].0["stepped"], "step-2");
        assert_eq!(seen[at].0["stepped_line"], seen[at].0["steps"][1]["leads"]);
        assert_eq!(seen[at].0["is_in_sight"], true);
    }
    let text = |at: usize| seen[at].0["text"].as_str().unwrap();
    assert!(text(0).contains("most likely") && text(1).contains("most likely"));
    assert!(text(0).contains("expected") && text(0).contains("10.00"));
    // Without a cause: what computed the value.
    let computed: Vec<&Value> =
        seen[3].0["steps"].as_array().unwrap().iter().map(|step| &step["place"]).collect();
    assert_eq!(computed, ["computed.c:9", "computed.c:6", "computed.c:5", "computed.c:7"]);
    assert!(text(2).contains("on the way"), "what was printed before the crash");
    assert!(text(3).contains("No condition explains this"));
    // What others wrote is shown and does nothing.
    let hostile = &seen[4].0;
    assert!(!hostile["title"].as_str().unwrap().starts_with("taken"));
    for shown in
        [MARKUP, "\\u{202e}desrever\\u{2066}", "caf\\xe9", "\\u{1b}[31m\\xff\\u{202e}", "onerror=alert(1)"]
    {
        assert!(text(4).contains(shown), "{shown}");
    }
    assert!(!text(4).contains(['\u{202e}', '\u{2066}', '\u{1b}']));
    assert!(pages[4].len() < 60_000, "{}", pages[4].len());
}

#[test]
fn pages_are_legible_in_the_dark_and_let_nothing_in() {
    if !is_there() {
        return;
    }
    let scratch = Scratch::new("page-dark");
    let pages =
        [triangle("dark"), crash("dark"), computed("dark"), hostile("dark")].map(|failing| failing.page());
    let pages = pages.each_ref().map(String::as_str);
    let (seen, _) = look_at(&scratch, &pages, &["--blink-settings=preferredColorScheme=0"]);
    for (screen, phone) in &seen {
        assert_eq!((&screen["dark"], &phone["dark"]), (&true.into(), &true.into()));
        is_sound(screen);
        is_sound(phone);
        // A script, a style and a picture that somebody might get into it are kept out by its policy.
        assert_eq!(screen["kept_out"], serde_json::json!(["img-src", "script-src-elem", "style-src-elem"]));
        assert_eq!(screen["intruded"], false);
    }
}

#[test]
fn a_printed_page_tells_the_whole_answer() {
    if !is_there() {
        return;
    }
    for failing in [triangle("print"), records("print-records")] {
        let (page, answer) = (failing.page(), failing.answer());
        let pages = printed(&failing.scratch, &page);
        assert!(pages.len() <= MOST_PAGES, "{} pages", pages.len());
        let paper = without_blanks(&pages.concat());
        // In the headline, and beside the output.
        assert!(pages.concat().matches("expected").count() > 1, "labels are in pieces:\n{}", pages.concat());
        let finding = &answer["findings"][0];
        let cause = &finding["causes"][0];
        let steps = cause["path"].as_array().unwrap().iter().chain(cause["reading"].as_array().unwrap());
        let texts = steps.map(|step| &step["text"]).chain([&finding["failed"], &cause["otherwise"]]);
        for text in texts.map(|text| text.as_str().unwrap()) {
            assert!(paper.contains(&without_blanks(text)), "{text} is not on paper:\n{}", pages.concat());
        }
        // All lines of the source that are shown, to their ends.
        for line in source_lines(&page) {
            assert!(paper.contains(&without_blanks(&line)), "{line} is not on paper");
        }
    }
}

/// The lines of source that a page shows.
fn source_lines(page: &str) -> Vec<String> {
    let file = ["triangle", "records"].into_iter().find(|name| page.contains(&format!("{name}.c"))).unwrap();
    let shown = |line: &&str| {
        let escaped =
            line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        line.len() > 8 && page.contains(&format!(">{escaped}<"))
    };
    let source = source_of(file);
    let lines: Vec<String> = source.lines().filter(shown).map(str::to_owned).collect();
    assert!(lines.len() > 4, "{lines:?}");
    lines
}

/// The text of each sheet of a page that is printed.
fn printed(scratch: &Scratch, page: &str) -> Vec<String> {
    let (page, paper) = (scratch.write("page.html", page), scratch.path().join("page.pdf"));
    let (_, log) = chromium(scratch, &[&format!("--print-to-pdf={}", paper.display())], &page);
    let text = Command::new("pdftotext").arg("-layout").arg(&paper).arg("-").output().unwrap();
    assert!(text.status.success(), "{text:?}: {log}");
    let text = String::from_utf8(text.stdout).unwrap();
    text.split_terminator('\u{c}').map(str::to_owned).collect()
}

/// Lines are broken elsewhere on paper.
fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn a_page_is_told_without_sources_as_well() {
    let failing = triangle("gone");
    std::fs::remove_file(failing.scratch.path().join("triangle.c")).unwrap();
    let page = failing.page();
    assert!(page.contains("This source could not be read"), "{page}");
    // Without the text the comparisons of a switch are conditions like others, and nearer.
    assert!(page.contains("<tr id=\"f1-20\" class=\"is-cause\">"), "{page}");
    assert!(page.contains("href=\"#f1-20\""), "{page}");
    assert_eq!(page.matches("(source not found)").count(), page.matches("<tr id=\"f1-").count());
}

#[test]
fn a_page_is_always_the_same() {
    let failing = triangle("same");
    let page = failing.explain(&["--format", "html", "--jobs", "1"]);
    assert_eq!(page, failing.explain(&["--format", "html", "--jobs", "3"]));
}

#[test]
fn a_page_goes_to_a_file_that_is_named() {
    let scratch = Scratch::new("page-file");
    scratch.compile("triangle", &source_of("triangle"), &["-O0", "-lm"]);
    let run = |words: &[&str]| {
        let words =
            [&["explain", "--expect-stdout", "9.92"], words, &["--", "./triangle", "6", "5", "4"]].concat();
        scratch.whydunit_apart(&words, b"")
    };
    let printed = run(&["--format", "html"]);
    let ran = run(&["--format", "html", "-o", "page.html"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stderr.contains("the answer is in page.html"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(scratch.path().join("page.html")).unwrap(), printed.stdout);
    assert!(printed.stdout.starts_with("<!DOCTYPE html>"));

    let ran = run(&["--format", "html", "--output", "nowhere/page.html"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("nowhere/page.html cannot be written"), "{}", ran.stderr);
}

#[test]
fn a_terminal_is_no_place_for_a_page() {
    let scratch = Scratch::new("page-terminal");
    scratch.compile("triangle", &source_of("triangle"), &["-O0", "-lm"]);
    let command = format!(
        "{} explain --format html --expect-stdout 9.92 -- ./triangle 6 5 4",
        env!("CARGO_BIN_EXE_whydunit")
    );
    // script(1) gives a command a terminal.
    let mut script = Command::new("script");
    script.current_dir(scratch.path()).args(["-qec", &command, "/dev/null"]);
    let ran = common::ran(script.stdin(std::process::Stdio::null()).output().unwrap());
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.contains("-o FILE"), "{}", ran.stdout);
}

#[test]
fn commands_without_a_page_say_what_they_have() {
    let scratch = Scratch::new("page-none");
    for command in [&["why", "--at", "exit"][..], &["slice", "--at", "exit"], &["stats"], &["minimize"]] {
        let ran = scratch.whydunit(&[command, &["--format", "html", "--", "/bin/true"]].concat());
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(
            ran.stderr.contains("invalid value 'html'") && ran.stderr.contains("text, json"),
            "{}",
            ran.stderr
        );
    }
}
