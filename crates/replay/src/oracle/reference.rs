//! Another executable that does it right.

use linux::fs::{ChangeKind, Stream};
use linux::{Exit, LoadError, Process};
use machine::Unwatched;

use super::judge::judge;
use super::leavings::status;
use crate::case::{Bytes, Case, Channel, Expectation};
use crate::failure::Verdict;

#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    #[error("the reference cannot be run: {0}")]
    Load(#[from] LoadError),
    #[error("the reference is no help: it {0}")]
    Fails(String),
    #[error("the files that the reference wrote cannot be compared: {0}")]
    Files(linux::errno::Errno),
}

/// The case with plain expectations in the place of references: standard output, the files that the reference
/// made or changed, and the exit status. Standard error counts only if all of that is as expected in `process`, the run of the
/// case itself: messages differ between versions for many reasons, so it is the failure only when nothing else is.
pub fn expect_like_reference(case: &Case, process: &Process) -> Result<Case, ReferenceError> {
    let mut plain = case.clone();
    plain.oracle.expectations.retain(|expectation| !matches!(expectation, Expectation::LikeReference(_)));
    for expectation in &case.oracle.expectations {
        if let Expectation::LikeReference(program) = expectation {
            let (found, stderr) = expectations(case, program)?;
            plain.oracle.expectations.extend(found);
            if judge(&plain, process) == Verdict::Passed {
                plain.oracle.expectations.push(stderr);
            }
        }
    }
    Ok(plain)
}

/// What the reference leaves behind, standard error apart.
fn expectations(case: &Case, program: &Bytes) -> Result<(Vec<Expectation>, Expectation), ReferenceError> {
    let mut reference = case.clone();
    reference.program = program.clone();
    // Its name stays the same, so that messages with the name do.
    reference.oracle = crate::case::Oracle::default();
    let mut process = reference.load()?;
    let exit = process.run(case.end(), &mut Unwatched);
    let Some(status) = status(&exit) else { return Err(ReferenceError::Fails(why_no_help(&exit))) };
    if let Verdict::Failed(failure) = judge(&reference, &process) {
        return Err(ReferenceError::Fails(format!("fails itself: it {failure}")));
    }
    let text = |stream| Bytes::from(process.kernel.output.contents(stream));
    let exactly = |channel, text| Expectation::Exactly { channel, text };
    let mut found = vec![exactly(Channel::Stdout, text(Stream::Stdout))];
    let stderr = exactly(Channel::Stderr, text(Stream::Stderr));
    for change in process.kernel.files.changed_files().map_err(ReferenceError::Files)? {
        if let ChangeKind::File { content, .. } = change.kind {
            let path: Vec<u8> = change.path.iter().flat_map(|name| [&b"/"[..], name].concat()).collect();
            found.push(exactly(Channel::File(Bytes::from(path)), Bytes::from(content.to_vec())));
        }
    }
    found.push(Expectation::Exit(status));
    Ok((found, stderr))
}

fn why_no_help(exit: &Exit) -> String {
    match exit {
        Exit::Until => "does not end within as many instructions as the program may take".to_owned(),
        Exit::Input => "waits for input that is not there".to_owned(),
        Exit::Unsupported(unsupported) => {
            format!("has the instruction {}, which is not supported by whydunit", unsupported.text)
        }
        Exit::OutOfMemory { .. } => "needs more memory than it may use".to_owned(),
        Exit::TooMuchOutput { .. } => "writes more than it may".to_owned(),
        Exit::Deadlock { call } => format!("waits for ever in {call}"),
        Exit::Exited(_) | Exit::Killed { .. } => "ended".to_owned(),
    }
}
