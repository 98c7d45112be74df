//! Any solver that speaks SMT-LIB 2.6, as a child process: `z3 -in`, `cvc5 --incremental`, `bitwuzla`.
//!
//! Each query has a process of its own, which is given the script and `(check-sat)`, and is asked for values or a core by what it answers. Whatever it does
//! instead of answering (ends, hangs, talks without end, says something else) is told as the reason of an [`Unknown`].

mod process;
pub mod reply;

use super::{Backend, Limits, Script, Solved, Unknown, Verdict, Wanted};
use process::{Process, Trouble};
use reply::{Expression, Status};
use std::fmt::Write;

pub struct Child {
    command: Vec<String>,
}

impl Child {
    /// A program and its arguments.
    pub fn new(command: Vec<String>) -> Child {
        Child { command }
    }

    fn told(&self, trouble: Trouble, limits: Limits) -> Unknown {
        let solver = self.command.join(" ");
        match trouble {
            Trouble::Missing(error) => Unknown::Missing(format!(
                "the solver `{solver}` cannot be started ({error}); install it, or name another with --solver"
            )),
            Trouble::Ended { how, said } => Unknown::Died { solver, how, said },
            Trouble::Slow => Unknown::Time { solver, seconds: limits.seconds },
            Trouble::Nonsense(what) => Unknown::Nonsense { solver, what },
        }
    }

    fn ask(&self, script: &Script, wanted: Wanted, limits: Limits) -> Result<Verdict, Trouble> {
        let mut process = Process::start(&self.command, limits)?;
        process.send(question(script, wanted, limits));
        let status = loop {
            let reply = process.reply()?;
            match reply::status(&reply) {
                Some(status) => break status,
                None if reply::is_acknowledgement(&reply) => {}
                None => return Err(nonsense("where an answer should be", &reply)),
            }
        };
        Ok(match (status, wanted) {
            (Status::Sat, _) if script.variables().is_empty() => Verdict::Sat(Vec::new()),
            (Status::Sat, _) => {
                process.send(values_question(script));
                let reply = process.reply()?;
                let values = reply::values(&reply, script.widths());
                Verdict::Sat(values.ok_or_else(|| nonsense("where values should be", &reply))?)
            }
            (Status::Unsat, Wanted::Verdict) => Verdict::Unsat((0..script.len()).collect()),
            (Status::Unsat, Wanted::Core) => {
                process.send("(get-unsat-core)\n".to_owned());
                let reply = process.reply()?;
                let core = reply::core(&reply, script.len());
                Verdict::Unsat(core.ok_or_else(|| nonsense("where a core should be", &reply))?)
            }
            (Status::Unknown, _) => {
                process.send("(get-info :reason-unknown)\n".to_owned());
                Verdict::Unknown(why(reply::reason(&process.reply()?), limits))
            }
        })
    }
}

impl Backend for Child {
    fn solve(&mut self, script: &Script, wanted: Wanted, limits: Limits) -> Solved {
        let verdict = self.ask(script, wanted, limits);
        let verdict = verdict.unwrap_or_else(|trouble| Verdict::Unknown(self.told(trouble, limits)));
        Solved { verdict, units: 0 }
    }
}

fn nonsense(place: &str, reply: &Expression) -> Trouble {
    Trouble::Nonsense(format!("{} {place}", reply.shortened()))
}

/// All up to the first answer.
fn question(script: &Script, wanted: Wanted, limits: Limits) -> String {
    let mut text = String::with_capacity(script.text().len() + 1024);
    let is_core_wanted = wanted == Wanted::Core;
    let _ = writeln!(
        text,
        "(set-option :print-success false)
(set-option :produce-models true)
(set-option :produce-unsat-cores {is_core_wanted})
(set-option :reproducible-resource-limit {})
(set-logic {})",
        limits.units,
        script.logic().name()
    );
    let (declarations, constraints) = script.parts();
    text.push_str(declarations);
    for (number, constraint) in constraints.enumerate() {
        let _ = match wanted {
            Wanted::Verdict => writeln!(text, "(assert {constraint})"),
            Wanted::Core => writeln!(text, "(assert (! {constraint} :named {}))", reply::core_name(number)),
        };
    }
    text.push_str("(check-sat)\n");
    text
}

fn values_question(script: &Script) -> String {
    let names: Vec<String> = (0..script.variables().len()).map(Script::variable_name).collect();
    format!("(get-value ({}))\n", names.join(" "))
}

/// What solvers say of their limits, in our words.
fn why(reason: String, limits: Limits) -> Unknown {
    let lower = reason.to_lowercase();
    if lower.contains("memout") || lower.contains("memory") {
        Unknown::Memory(limits.memory)
    } else if ["resource", "canceled", "timeout"].iter().any(|word| lower.contains(word)) {
        Unknown::ResourceLimit(limits.units)
    } else {
        Unknown::Incomplete(reason)
    }
}
