//! Runs single functions of a compiled program in the machine, and watches what its conditions do.

use std::path::Path;

use lift::{Op, Reg};
use machine::{Action, Backing, Cpu, Intervention, Machine, Memory, Observer, Permissions, Region, Time};
use object::{Object as _, ObjectSegment as _};
use program::conditions::{Exit, Step};
use program::{Cfg, Condition, ConditionKind};

const DATA: u64 = 0x7000_0000;
const STACK_END: u64 = 0x7100_0000;
/// Nothing is there, so the run ends when the function returns.
const RETURN_TO: u64 = 0x10;
/// Loops are left once their condition has been seen.
const LONGEST_RUN: u64 = 3000;

/// What a function is called with.
pub struct Inputs {
    pub integers: Vec<i32>,
    pub doubles: Vec<f64>,
}

pub struct Guest {
    machine: Machine,
}

/// What happened, in order.
#[derive(Default)]
pub struct Watched {
    pub events: Vec<Event>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Instruction(u64),
    Condition { time: Time, address: u64, holds: bool },
}

impl Observer for Watched {
    fn instruction(&mut self, _: Time, address: u64, _: &[Op], _: &Cpu) {
        self.events.push(Event::Instruction(address));
    }

    fn condition(&mut self, time: Time, address: u64, holds: bool) {
        self.events.push(Event::Condition { time, address, holds });
    }
}

impl Guest {
    /// A static program that needs no library.
    pub fn load(path: &Path) -> Guest {
        let content = std::fs::read(path).unwrap();
        let file = object::File::parse(&*content).unwrap();
        let mut memory = Memory::new(1 << 26);
        let region = |start: u64, end: u64, permissions| {
            let (backing, name) = (Backing::Zero, "".into());
            Region {
                start: start & !0xfff,
                end: (end + 0xfff) & !0xfff,
                permissions,
                backing,
                name,
                shared: false,
            }
        };
        for segment in file.segments() {
            memory.map(region(segment.address(), segment.address() + segment.size(), Permissions::RWX));
        }
        for segment in file.segments() {
            memory.poke(segment.address(), segment.data().unwrap()).unwrap();
        }
        memory.map(region(DATA, DATA + 0x2000, Permissions::RW));
        memory.map(region(STACK_END - 0x10000, STACK_END, Permissions::RW));
        Guest { machine: Machine::new(memory) }
    }

    /// Calls the function at `start`.
    pub fn call(&mut self, start: u64, inputs: &Inputs, interventions: &[Intervention]) -> Watched {
        let mut machine = self.machine.fork();
        let integers: Vec<u8> = inputs.integers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let doubles: Vec<u8> = inputs.doubles.iter().flat_map(|n| n.to_le_bytes()).collect();
        machine.memory.poke(DATA, &integers).unwrap();
        machine.memory.poke(DATA + 0x1000, &doubles).unwrap();
        let stack = STACK_END - 0x108;
        machine.memory.poke(stack, &RETURN_TO.to_le_bytes()).unwrap();
        machine.cpu.set(Reg::RSP, stack);
        machine.cpu.set(Reg::RDI, DATA);
        machine.cpu.set(Reg::RSI, DATA + 0x1000);
        machine.cpu.rip = start;
        for intervention in interventions {
            machine.intervene(intervention.clone());
        }
        let mut watched = Watched::default();
        let until = Time(machine.time.0 + LONGEST_RUN);
        machine.run(until, &mut watched);
        watched
    }

    /// Calls the function and makes the condition end in `exit`, by forcing its members one after the other.
    pub fn force(&mut self, start: u64, inputs: &Inputs, condition: &Condition, exit: Exit) -> Watched {
        let mut interventions = Vec::new();
        let mut next = 0;
        loop {
            let watched = self.call(start, inputs, &interventions);
            let Some(member) = condition.members.get(next) else { return watched };
            let reached = watched.events.iter().find_map(|event| match event {
                Event::Condition { time, address, .. } if *address == member.address => Some(*time),
                _ => None,
            });
            let time = reached.expect("the steps lead to members that are not reached");
            let wanted = Step::Exit(exit);
            let side = match (member.holds, member.fails) {
                (holds, _) if holds == wanted => true,
                (_, fails) if fails == wanted => false,
                (Step::Member(_), _) => true,
                _ => false,
            };
            interventions.push(Intervention::At(time, Action::ForceCondition(side)));
            match if side { member.holds } else { member.fails } {
                Step::Member(number) => next = number,
                _ => return self.call(start, inputs, &interventions),
            }
        }
    }
}

/// The first exit that the condition took, by following its steps along what happened; `None` when it was not
/// reached. A step that is not what happened is an error.
pub fn outcome(watched: &Watched, cfg: &Cfg, condition: &Condition) -> Result<Option<Exit>, String> {
    let (mut expected, mut decided) = (0, 0);
    let mut at = 0;
    loop {
        let rest = watched.events.get(at..).unwrap_or_default();
        let found = rest.iter().enumerate().find_map(|(n, event)| match *event {
            Event::Condition { address, holds, .. } => {
                let number = condition.members.iter().position(|member| member.address == address)?;
                Some((n, number, holds))
            }
            Event::Instruction(_) => None,
        });
        let Some((n, number, holds)) = found else {
            return if at == 0 { Ok(None) } else { Err(format!("member {expected} was not reached")) };
        };
        at += n + 1;
        // Without a jump, members are executed that have nothing to decide any more.
        if (decided..expected).contains(&number) {
            continue;
        }
        if number != expected {
            return Err(format!("member {number} was reached instead of {expected}"));
        }
        decided = number;
        let member = &condition.members[number];
        match if holds { member.holds } else { member.fails } {
            Step::Member(next) => expected = next,
            Step::Exit(exit) => {
                let later = watched.events.get(at..).unwrap_or_default();
                return arrives(later, cfg, condition, exit).map(|()| Some(exit));
            }
            step => return Err(format!("member {number} leads to {step:?}")),
        }
    }
}

/// Whether control goes to the exit's block, and not to the other's.
fn arrives(later: &[Event], cfg: &Cfg, condition: &Condition, exit: Exit) -> Result<(), String> {
    let ConditionKind::Branch { exits, .. } = &condition.kind else { return Ok(()) };
    let starts = exits.map(|id| cfg.block(id).unwrap().start);
    let first = later.iter().find_map(|event| match event {
        Event::Instruction(address) => starts.iter().position(|start| start == address),
        Event::Condition { .. } => None,
    });
    match first {
        Some(reached) if reached == exit.index() || starts[0] == starts[1] => Ok(()),
        other => Err(format!("{exit:?} should be reached, not {other:?}")),
    }
}
