//! `whydunit dump align`: two runs side by side.

use std::io::Write;

use anyhow::{Context, Result, bail};
use machine::{Time, Unwatched};
use program::{Program, read_file};
use replay::Flow;
use replay::index::{Aligned, Alignment, Indexer, Point, keys_of_one, keys_of_two};

use super::runs;
use crate::args::{DumpAlign, GuestArguments};
use crate::streams::printable;
use crate::view::tell_warnings;

/// Stands between the two commands.
const SEPARATOR: &str = "---";

pub fn write(arguments: &DumpAlign, out: &mut dyn Write) -> Result<()> {
    let scope = arguments.view.scope()?;
    let commands = split(&arguments.guest)?;
    let mut processes = runs::load(&[&commands[0], &commands[1]], Time(u64::MAX))?;
    let mut programs = Vec::new();
    for process in &mut processes {
        let mut ended = process.fork();
        ended.run(Time(u64::MAX), &mut Unwatched);
        programs.push(runs::view(&ended, arguments.view.sources.source_map()?));
    }
    let [left, right] = &*programs else { bail!("two programs are needed") };
    let (left_flow, right_flow) = (Flow::new(left), Flow::new(right));
    let (left_keys, right_keys) = match is_same(left, right)? {
        true => {
            let keys = keys_of_one(left);
            (keys.clone(), keys)
        }
        false => keys_of_two(left, right),
    };
    let indexers =
        [Indexer::new(&left_flow, &scope, left_keys), Indexer::new(&right_flow, &scope, right_keys)];
    let mut sides = processes.into_iter().zip(indexers);
    let (Some(first), Some(second)) = (sides.next(), sides.next()) else { bail!("two programs are needed") };
    for step in Alignment::new(first, second) {
        writeln!(out, "{}", line(&step, left, right))?;
    }
    out.flush()?;
    programs.iter().for_each(tell_warnings);
    Ok(())
}

/// The two commands, each with all else that was asked for.
fn split(arguments: &GuestArguments) -> Result<[GuestArguments; 2]> {
    let at = arguments.command.iter().position(|word| word == SEPARATOR);
    let at = at.with_context(|| format!("a second command is needed, after {SEPARATOR}"))?;
    let (first, second) = arguments.command.split_at(at);
    let second = second.get(1..).unwrap_or(&[]);
    if first.is_empty() || second.is_empty() {
        bail!("there is a command before {SEPARATOR} and one after it");
    }
    let with = |command: &[_]| GuestArguments { command: command.to_vec(), ..arguments.clone() };
    Ok([with(first), with(second)])
}

/// Whether both are runs of one executable, so that addresses mean the same.
fn is_same(left: &Program, right: &Program) -> Result<bool> {
    let (Some(left), Some(right)) = (left.main_object(), right.main_object()) else { return Ok(false) };
    let read = |path: &str| {
        read_file(std::path::Path::new(path)).with_context(|| format!("{} cannot be read", printable(path)))
    };
    Ok(left == right || read(left)? == read(right)?)
}

fn line(step: &Aligned, left: &Program, right: &Program) -> String {
    let place = |program: &Program, point: &Point| {
        let stmt = program.statement_at(point.address);
        printable(&stmt.map_or_else(|| format!("{:#x}", point.address), |stmt| runs::place(&stmt)))
    };
    match step {
        Aligned::Both(a, b) => {
            let (here, there) = (place(left, a), place(right, b));
            let places = if here == there { here } else { format!("{here} | {there}") };
            format!("= {:>12} {:>12}  {places}", a.time.0, b.time.0)
        }
        Aligned::Left(a) => format!("< {:>12} {:>12}  {}", a.time.0, "", place(left, a)),
        Aligned::Right(b) => format!("> {:>12} {:>12}  {}", "", b.time.0, place(right, b)),
    }
}
