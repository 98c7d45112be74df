use super::*;

fn strange_case() -> Case {
    Case {
        argv: vec![Bytes::from(&b"prog\xff"[..]), Bytes::from("plain"), Bytes::default()],
        env: vec![Bytes::from(&b"A=\x80\n"[..])],
        cwd: Bytes::from(&b"/tmp/\xe9"[..]),
        stdin: Stdin::File { path: Bytes::from("/dev/null"), offset: u64::MAX },
        oracle: Oracle {
            expectations: vec![
                Expectation::Exactly {
                    channel: Channel::File(Bytes::from(&b"\xc3"[..])),
                    text: Bytes::from("é\0"),
                },
                Expectation::EndsWithin(u64::MAX),
                Expectation::EndsWithin(7),
                Expectation::Exit(-1),
            ],
            comparison: Comparison { ignore_space: true, float_tolerance: Some(0.1) },
        },
        ..Case::new("/bin/true")
    }
}

#[test]
fn a_case_survives_being_written_and_read_whatever_bytes_it_has() {
    let case = strange_case();
    let text = serde_json::to_string(&case).unwrap();
    assert!(text.contains(r#""plain""#), "{text}");
    assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
}

#[test]
fn what_is_no_byte_is_refused() {
    assert!(serde_json::from_str::<Bytes>("[1, 256]").is_err());
    assert!(serde_json::from_str::<Bytes>("3").is_err());
    assert_eq!(serde_json::from_str::<Bytes>("[104, 105]").unwrap(), Bytes::from("hi"));
}

#[test]
fn the_earliest_end_counts() {
    let mut case = strange_case();
    assert_eq!(case.end(), Time(7));
    case.limits.instructions = 5;
    assert_eq!(case.end(), Time(5));
}

#[test]
fn a_case_runs_with_what_it_says() {
    let mut case = Case::new("/bin/sh");
    case.argv = ["sh", "-c", "read line; echo $line; echo $A; pwd; exit 3"].map(Bytes::from).to_vec();
    case.env = vec![Bytes::from("A=1"), Bytes::from("PATH=/nowhere")];
    case.stdin = Stdin::Bytes(Bytes::from("input\n"));
    case.cwd = Bytes::from("/usr");
    let mut process = case.load().unwrap();
    let exit = process.run(case.end(), &mut machine::Unwatched);
    assert_eq!(exit, linux::Exit::Exited(3));
    assert_eq!(process.kernel.output.contents(linux::fs::Stream::Stdout), b"input\n1\n/usr\n");
}
