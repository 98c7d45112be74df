//! Transfers of control: which a run made within the program itself, and which of them the static graphs have.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use lift::Op;
use linux::{Config, Exit, Process};
use machine::{Cpu, Observer, Time};
use program::{Cfg, Program, Terminator};

use crate::command::ENVIRONMENT;

/// What a run is made of.
pub struct Run<'a> {
    pub program: &'a Path,
    /// With the name of the program first.
    pub words: &'a [String],
    pub directory: &'a Path,
    pub stdin: Vec<u8>,
    pub most_instructions: u64,
}

/// How control went from one instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Jump,
    Branch,
    IndirectJump,
    /// From a call to the instruction after it, when the callee returned.
    CallReturned,
}

type Transfer = (u64, u64, Kind);

/// A transfer that is no edge.
#[derive(Clone, Debug)]
pub struct Miss {
    pub from: u64,
    pub to: u64,
    pub kind: Kind,
    /// How often it was seen.
    pub count: u64,
    pub instruction: String,
    pub why: &'static str,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Transfers within the linker's stubs, which belong to no function of the program; not among those seen.
    pub in_stubs: u64,
    pub seen: u64,
    pub missed: u64,
    pub distinct: u64,
    pub distinct_missed: u64,
    pub functions: u64,
    /// The most frequent first.
    pub misses: Vec<Miss>,
}

/// Runs the program and holds the transfers within its own code against its graphs as they are without any run.
pub fn check(run: &Run) -> Result<Verdict, String> {
    let mut config = Config::new(run.program);
    config.argv = run.words.iter().map(|word| word.clone().into_bytes()).collect();
    config.env = ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect();
    config.cwd = run.directory.to_owned();
    config.stdin = Arc::new(run.stdin.clone());
    let mut process = Process::load(&config).map_err(|error| error.to_string())?;
    let program = Program::from_memory(&process.machine.memory);
    let name = std::fs::canonicalize(run.program).map_err(|error| error.to_string())?;
    let regions = process.machine.memory.regions();
    let is_own = |region: &&machine::Region| [run.program, &name].contains(&Path::new(&*region.name));
    let code = regions.iter().filter(is_own).filter(|region| region.permissions.execute);
    let scope: Vec<Range<u64>> = code.map(|region| region.start..region.end).collect();
    if scope.is_empty() {
        return Err(format!("{} has no code in memory", name.display()));
    }
    let mut watcher = Watcher { scope, ..Watcher::default() };
    let exit = process.run(Time(run.most_instructions), &mut watcher);
    match exit {
        Exit::Exited(_) | Exit::Until | Exit::Killed { .. } => Ok(judge(&program, &watcher.transfers)),
        other => Err(format!("the run ended otherwise: {other:?}")),
    }
}

#[derive(Default)]
struct Watcher {
    scope: Vec<Range<u64>>,
    transfers: HashMap<Transfer, u64>,
    /// The instruction before this one, when it decides where control goes.
    before: Option<(u64, Kind)>,
    /// The call before each place that a call can return to.
    calls: HashMap<u64, u64>,
    returned: bool,
}

impl Watcher {
    fn is_in_scope(&self, address: u64) -> bool {
        self.scope.iter().any(|range| range.contains(&address))
    }

    fn arrive(&mut self, address: u64) {
        if std::mem::take(&mut self.returned)
            && let Some(call) = self.calls.get(&address)
        {
            *self.transfers.entry((*call, address, Kind::CallReturned)).or_default() += 1;
        }
        if let Some((from, kind)) = self.before.take()
            && self.is_in_scope(address)
        {
            *self.transfers.entry((from, address, kind)).or_default() += 1;
        }
    }
}

impl Observer for Watcher {
    fn instruction(&mut self, _time: Time, address: u64, ops: &[Op], _cpu: &Cpu) {
        self.arrive(address);
        let kind = match ops.last() {
            Some(Op::Jump { target: lift::Value::Const(_) }) => Kind::Jump,
            Some(Op::Jump { .. }) => Kind::IndirectJump,
            Some(Op::Branch { .. }) => Kind::Branch,
            Some(Op::Return { .. }) => {
                self.returned = true;
                return;
            }
            Some(Op::Call { return_address, .. }) => {
                if self.is_in_scope(address) {
                    self.calls.insert(*return_address, address);
                }
                return;
            }
            _ => return,
        };
        if self.is_in_scope(address) {
            self.before = Some((address, kind));
        }
    }
}

fn judge(program: &Program, transfers: &HashMap<Transfer, u64>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut functions = BTreeMap::new();
    let sorted: BTreeMap<&Transfer, &u64> = transfers.iter().collect();
    for ((from, to, kind), count) in sorted {
        if program.is_linker_stub(*from) {
            verdict.in_stubs += count;
            continue;
        }
        verdict.seen += count;
        verdict.distinct += 1;
        let cfg = program.cfg(*from);
        let why = match &cfg {
            None => Some("in no known function"),
            Some(cfg) => {
                functions.insert(cfg.start, ());
                missing(cfg, *from, *to)
            }
        };
        if let Some(why) = why {
            verdict.missed += count;
            verdict.distinct_missed += 1;
            let bytes = program.file_bytes(*from).unwrap_or_default();
            let instruction = lift::describe(bytes, *from).text;
            verdict.misses.push(Miss { from: *from, to: *to, kind: *kind, count: *count, instruction, why });
        }
    }
    verdict.functions = functions.len() as u64;
    verdict.misses.sort_by_key(|miss| (std::cmp::Reverse(miss.count), miss.from, miss.to));
    verdict
}

/// Why a transfer is not in the graph; `None` when it is.
fn missing(cfg: &Cfg, from: u64, to: u64) -> Option<&'static str> {
    if cfg.has_transfer(program::Transfer { from, to }) {
        return None;
    }
    let Some(block) = cfg.block_at(from).and_then(|id| cfg.block(id)) else {
        return Some("not in the graph");
    };
    Some(match block.terminator {
        _ if block.last != from => "in the middle of a block",
        Terminator::TailCall { .. } => "taken for a tail call",
        Terminator::Stop => "taken not to return",
        Terminator::Unknown => "the jump is unresolved",
        _ => "no such edge",
    })
}

impl Verdict {
    pub fn add(&mut self, other: Verdict) {
        self.in_stubs += other.in_stubs;
        self.seen += other.seen;
        self.missed += other.missed;
        self.distinct += other.distinct;
        self.distinct_missed += other.distinct_missed;
        self.functions += other.functions;
        self.misses.extend(other.misses);
    }

    /// Which share of the transfers are edges.
    pub fn share(&self) -> f64 {
        1.0 - self.missed as f64 / self.seen.max(1) as f64
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = 1.0 - self.distinct_missed as f64 / self.distinct.max(1) as f64;
        write!(
            f,
            "{} transfers, {:.4} % are edges; {} distinct, {:.4} % are edges; {} functions; \
             {} more in stubs",
            self.seen,
            100.0 * self.share(),
            self.distinct,
            100.0 * distinct,
            self.functions,
            self.in_stubs
        )
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Miss { from, to, kind, count, instruction, why } = self;
        write!(f, "{kind:?} {from:#x} -> {to:#x}, {count} times, {instruction}: {why}")
    }
}
