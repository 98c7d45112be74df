//! `whydunit record`: a run, and all that it depends on, in a file.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use linux::Exit;
use machine::{Time, Unwatched};
use replay::oracle::expect_like_reference;
use replay::{Bundle, Expectation};

use crate::args::RecordArguments;
use crate::atomic_file::AtomicFile;
use crate::exit_code::{self, Failure};
use crate::run::{self, Interrupted, Opened};
use crate::streams;

pub fn record(arguments: &RecordArguments) -> Result<u8, Failure> {
    let failed = |error| Failure::new(exit_code::FAILED, error);
    let scope = arguments.view.scope().map_err(failed)?;
    let map = arguments.view.sources.source_map().map_err(failed)?;
    // Tried at once, so that a long run is not for nothing; but the program is not to see a file of ours.
    drop(AtomicFile::create(&arguments.output).map_err(failed)?);

    let Opened { mut process, mut case, recorded } = run::open(&arguments.case.guest)?;
    arguments.case.add_to(&mut case, recorded.is_some()).map_err(failed)?;
    // As long as there is a clone, nothing that was read is forgotten.
    let beginning = process.fork();
    let exit = match run::drive(&mut process, case.end()) {
        Ok(exit) => exit,
        Err(Interrupted::BrokenPipe) => return Ok(exit_code::BROKEN_PIPE),
        Err(Interrupted::Failed(error)) => return Err(failed(error)),
    };
    let mut bundle = Bundle::of(case, &process, &exit, &scope, &map);
    drop(beginning);
    expect_plainly(&mut bundle).map_err(failed)?;
    let size = write(&bundle, arguments).map_err(failed)?;
    streams::tell(&summary(&bundle, &exit, process.machine.time, size, arguments));
    Ok(exit_code::SUCCESS)
}

/// Runs references now, since they are not there when the bundle is replayed elsewhere.
fn expect_plainly(bundle: &mut Bundle) -> Result<()> {
    let is_reference = |expectation: &Expectation| matches!(expectation, Expectation::LikeReference(_));
    if !bundle.case.oracle.expectations.iter().any(is_reference) {
        return Ok(());
    }
    // What the run has printed was passed on and is gone.
    let mut process = bundle.sealed_case().load()?;
    process.run(bundle.case.end(), &mut Unwatched);
    bundle.case.oracle = expect_like_reference(&bundle.case, &process)?.oracle;
    Ok(())
}

/// Writes the file and returns its size.
fn write(bundle: &Bundle, arguments: &RecordArguments) -> Result<u64> {
    let told = || format!("{} cannot be written", arguments.output.display());
    let file = AtomicFile::create(&arguments.output)?;
    let mut out = BufWriter::new(&file.file);
    bundle.write(&mut out).with_context(told)?;
    out.flush().with_context(told)?;
    drop(out);
    let size = file.file.metadata().with_context(told)?.len();
    file.keep()?;
    Ok(size)
}

fn summary(bundle: &Bundle, exit: &Exit, time: Time, size: u64, arguments: &RecordArguments) -> String {
    let capsule = &bundle.capsule;
    let read = capsule.contents.values().filter(|content| content.is_ok()).count();
    let contents = capsule.contents.values().flatten().map(|content| content.len() as u64);
    let attached = capsule.attachments.values().map(|attachment| attachment.content.len() as u64);
    let whole: u64 = contents.chain(attached).sum();
    let path = streams::printable(&arguments.output.to_string_lossy());
    format!(
        "whydunit: {path}: {} instructions, the program {}; {read} files, {} debug files and sources; {} ({} unpacked)\n",
        time.0,
        run::ending(exit),
        capsule.attachments.len(),
        megabytes(size),
        megabytes(whole),
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
