//! Snapshots: what a clone of a whole process costs in the midst of its run, and what the writes after it cost.

use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use linux::{Config, Exit, Process};
use machine::{Time, Unwatched};

use crate::measure::median;
use crate::place;

/// So far into the run the clones are taken.
const MOMENT: Time = Time(50_000_000);
const CLONES: usize = 2_000;
/// Pages written after a clone: the first pays for the path to it, the following ones for themselves.
const PAGES: usize = 16;

pub fn table() -> Result<String> {
    let mut process = process_in_its_midst()?;
    let memory = &process.machine.memory;
    let writable = |page: &u64| memory.region_at(*page).is_some_and(|region| region.permissions.write);
    let pages: Vec<u64> = memory.written_pages().filter(writable).take(PAGES).collect();
    let (mut clones, mut firsts, mut others, mut reruns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CLONES {
        let start = Instant::now();
        let mut clone = black_box(process.fork());
        clones.push(start.elapsed());
        for (number, &page) in pages.iter().enumerate() {
            let start = Instant::now();
            clone
                .machine
                .memory
                .store::<u8>(page, 1)
                .map_err(|fault| anyhow!("a writable page cannot be written: {fault:?}"))?;
            if number == 0 { &mut firsts } else { &mut others }.push(start.elapsed());
        }
    }
    for _ in 0..20 {
        let mut clone = process.fork();
        let start = Instant::now();
        clone.run(Time(MOMENT.0 + 10_000), &mut Unwatched);
        reruns.push(start.elapsed());
    }
    let resident = process.machine.memory.resident_pages();
    let row = |what: &str, times: &[Duration]| match median(times) {
        Some(time) => format!("| {what} | {:.2} µs |\n", time.as_secs_f64() * 1e6),
        None => format!("| {what} | not measured |\n"),
    };
    let mut text = String::from("| snapshots | median |\n|---|---|\n");
    text.push_str(&row("clone of a whole process (machine and kernel)", &clones));
    text.push_str(&row("first write to a page after a clone", &firsts));
    text.push_str(&row("write to each further page", &others));
    text.push_str(&row("10,000 instructions after a clone", &reruns));
    text.push_str(&format!(
        "\nledger after {} M instructions, {resident} resident pages; {CLONES} clones.\n",
        MOMENT.0 / 1_000_000
    ));
    Ok(text)
}

fn process_in_its_midst() -> Result<Process> {
    let program = place::compile("ledger")?;
    let argv = vec![program.as_os_str().as_bytes().to_vec(), b"2".to_vec()];
    let mut process =
        Process::load(&Config { argv, ..Config::new(&program) }).context("ledger cannot be loaded")?;
    match process.run(MOMENT, &mut Unwatched) {
        Exit::Until => Ok(process),
        other => bail!("ledger ended before its time: {other:?}"),
    }
}
