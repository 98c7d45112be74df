//! What there is besides when no single condition helps: other cases of switch statements, all decisions of a condition at once,
//! and pairs of decisions. All of it is bounded, and what was left out is counted.

use std::cmp::Reverse;

use linux::Process;
use machine::Intervention;
use replay::failure::{Failure, FailureKind, Verdict};
use replay::{Channel, Code, Recording, Scanner};

use super::judging::Meter;
use super::plan::{Always, Switch};
use super::search::{Bounds, Found, Options, Search, beginning, in_threads, job, make};
use super::sweep::{Job, Rules};
use super::tariff::Parking;
use super::trial::{self, Ending, Trial};
use super::verify::{Change, Critical, Second};
use crate::criterion::asked_of;
use crate::instances::{Instance, Instances, Target};

/// So many trials of other cases are made, and so many of all decisions of a condition.
const MOST_CASES: usize = 1 << 12;
const MOST_WHOLES: usize = 1 << 10;
/// Trials that are made before anybody looks whether it is time to end.
const PORTION: usize = 256;
/// So many decisions of each kind are the first of a pair: those after which the run comes further, those nearest to the failure, and those nearest
/// when what was left out counts, too. For each of them so many others are the second.
const MOST_FIRST: usize = 8;
const MOST_SECOND: usize = 256;

impl Search<'_, '_> {
    /// One kind after the other, until something helps.
    pub(super) fn go_beyond(&mut self, found: &mut Found, options: &Options, meter: &Meter) {
        let kinds = [Search::other_cases, Search::whole_conditions, Search::pairs];
        for kind in kinds {
            kind(self, found, options, meter);
            found.is_cut_short |= is_over(found, options, meter);
            if found.helps() || found.is_cut_short {
                break;
            }
        }
    }

    /// Leads switch statements to other cases.
    fn other_cases(&mut self, found: &mut Found, options: &Options, meter: &Meter) {
        let mut chosen: Vec<(usize, Target, Job)> = Vec::new();
        let waits = options.parking != Parking::Never;
        for place in nearest_first(found) {
            let Some(instance) = found.instances.list.get(place) else { continue };
            let Some(known) = found.instances.known(instance).filter(|known| known.is_switch()) else {
                continue;
            };
            for target in known.targets.iter().filter(|target| Some(target.block) != instance.target) {
                let program = self.flow.program();
                let switch = Switch::to_case(program, known, target.block, target.address);
                let time = instance.since;
                match switch.filter(|_| chosen.len() < MOST_CASES) {
                    Some(switch) => chosen.push((place, target.clone(), Job { time, switch, waits })),
                    None => found.statistics.left_out += 1,
                }
            }
        }
        if chosen.is_empty() {
            return;
        }
        let watched = self.watched();
        let mut verifier = self.verifier(watched.as_ref());
        meter.expects(chosen.len());
        for portion in chosen.chunks(PORTION) {
            if is_over(found, options, meter) {
                break;
            }
            let jobs: Vec<&Job> = portion.iter().map(|(.., job)| job).collect();
            let rules = self.rules(&found.instances, options, meter);
            let trials = make(self.recording, &jobs, &rules, options.threads);
            for ((place, target, job), trial) in portion.iter().zip(trials) {
                found.statistics.cases += u64::from(trial.begun);
                found.statistics.instructions += trial.instructions;
                let Some(&instance) = found.instances.list.get(*place) else { continue };
                let Some(known) = found.instances.known(&instance) else { continue };
                if let Some(saved) = verifier.look(self.recording, &instance, known, job, &trial) {
                    meter.found_one(known.stmt.as_ref(), saved.effect);
                    add(found, *place, Critical { change: Change::Case(target.values.clone()), ..saved });
                }
            }
        }
        verifier.tell(&mut found.statistics);
    }

    /// Makes all decisions of a condition go another way.
    fn whole_conditions(&mut self, found: &mut Found, options: &Options, meter: &Meter) {
        let mut chosen: Vec<(usize, Always, Vec<Intervention>)> = Vec::new();
        for place in last_of_each(found) {
            let Some(instance) = found.instances.list.get(place) else { continue };
            let Some(known) = found.instances.known(instance) else { continue };
            if known.is_switch() || known.count < 2 {
                continue;
            }
            chosen.extend(Always::of(known).into_iter().map(|way| (place, way, way.interventions(known))));
        }
        found.statistics.left_out += chosen.len().saturating_sub(MOST_WHOLES) as u64;
        chosen.truncate(MOST_WHOLES);
        if chosen.is_empty() {
            return;
        }
        let watched = self.watched();
        let mut verifier = self.verifier(watched.as_ref());
        meter.expects(chosen.len());
        let first = self.recording.start();
        let mut start = beginning(self.recording, first);
        for portion in chosen.chunks(PORTION) {
            if is_over(found, options, meter) {
                break;
            }
            let rules = self.rules(&found.instances, options, meter);
            let mut begin = |interventions: &[Intervention]| {
                let mut process = start.fork();
                interventions.iter().for_each(|one| process.machine.intervene(one.clone()));
                process
            };
            let work: Vec<Process> = portion.iter().map(|(.., interventions)| begin(interventions)).collect();
            let trials = run_all(work, &rules, options.threads);
            for ((place, way, interventions), trial) in portion.iter().zip(trials) {
                found.statistics.wholes += u64::from(trial.begun);
                found.statistics.instructions += trial.instructions;
                let Some(&instance) = found.instances.list.get(*place) else { continue };
                let Some(known) = found.instances.known(&instance) else { continue };
                // To look at a trial takes as long as to make it; only those that passed are worth it to somebody who waits.
                if trial.ending != Ending::Passed && meter.is_over() {
                    continue;
                }
                let (change, mut process) = (way.change(known), begin(interventions));
                let altered = (&mut process, &interventions[..]);
                if let Some(saved) =
                    verifier.look_at_whole(self.recording, (&instance, known), change, altered, &trial)
                {
                    meter.found_one(known.stmt.as_ref(), saved.effect);
                    add(found, *place, saved);
                }
            }
        }
        verifier.tell(&mut found.statistics);
    }

    /// Makes a second decision go the other way in runs in which a first one has.
    fn pairs(&mut self, found: &mut Found, options: &Options, meter: &Meter) {
        let mut chosen = promising(found, &self.failure.kind);
        if !self.recording.patience().is_over() {
            self.find_relevant_distances(found);
            add_nearest(&mut chosen, found);
        }
        for place in chosen {
            if is_over(found, options, meter) {
                break;
            }
            let Some(&instance) = found.instances.list.get(place) else { continue };
            let Some(first) = job(&found.instances, place) else { continue };
            for pair in self.pairs_with(&first, &instance, found, options, meter) {
                add(found, place, pair);
            }
        }
    }

    fn pairs_with(
        &mut self,
        first: &Job,
        instance: &Instance,
        found: &mut Found,
        options: &Options,
        meter: &Meter,
    ) -> Vec<Critical> {
        let mut there = self.recording.at(first.time);
        let diverted = first.switch.divert(&mut there, first.time, &mut Scanner::default());
        let start = self.recording.start();
        let mut process = beginning(self.recording, start);
        diverted.interventions.iter().for_each(|one| process.machine.intervene(one.clone()));
        let program = self.flow.program();
        let verdict = self.judge.run(&mut process.fork(), program, self.deadline());
        let Verdict::Failed(failure) = verdict else { return Vec::new() };
        let mut recording = Recording::make(process, self.deadline());
        found.statistics.instructions += recording.end().0.saturating_sub(recording.start().0);
        let mut code = Code::new(program, self.scope.clone());
        let question = asked_of(&failure, &mut recording, &mut code).question;
        let mut search = Search {
            recording: &mut recording,
            code: &mut code,
            flow: self.flow,
            scope: self.scope,
            judge: self.judge,
            failure: &failure,
            question: &question,
            inducing: self.inducing,
        };
        let after = diverted.run.time();
        let second = search.singles(options, meter, Bounds { after, most: MOST_SECOND });
        found.statistics.pairs += second.statistics.tried;
        found.statistics.instructions += second.statistics.instructions;
        found.statistics.unverified += second.statistics.unverified;
        found.statistics.unclassified += second.statistics.unclassified;
        let helps = |critical: &Critical| critical.effect.helps();
        let condition = found.instances.known(instance).map(|known| known.condition.id);
        let pair = |critical: Critical| {
            let known = second.instances.known(&critical.instance);
            let change = Change::With(Box::new(Second {
                decided: recording.decision(&mut code, critical.instance.time),
                is_same: condition.is_some() && known.map(|known| known.condition.id) == condition,
                leaves_out: known.is_some_and(|known| known.leaves_out(&critical.instance)),
            }));
            let interventions = [&diverted.interventions[..], &critical.interventions].concat();
            // What stands where the first alone was wrong tells nothing about where the failing run was.
            let line = critical.line.filter(|_| wrong_line(&failure) == wrong_line(self.failure));
            Critical { instance: *instance, change, line, interventions, ..critical }
        };
        second.critical.into_iter().filter(helps).map(pair).collect()
    }
}

/// The line of the output at which a run was wrong.
fn wrong_line(failure: &Failure) -> Option<(&Channel, u64)> {
    match &failure.kind {
        FailureKind::WrongOutput(wrong) => Some((&wrong.channel, wrong.line)),
        _ => None,
    }
}

fn is_over(found: &Found, options: &Options, meter: &Meter) -> bool {
    found.statistics.instructions > options.budget || meter.is_over()
}

fn add(found: &mut Found, place: usize, critical: Critical) {
    let Found { statistics, trials, distances, .. } = found;
    let number = trials.len() as u64 + statistics.cases + statistics.wholes + statistics.pairs;
    statistics.found(critical.effect, number);
    let distance = distances.get(&place).copied();
    found.critical.push(Critical { place, distance, trial: number as usize, ..critical });
}

/// All decisions, those that the failure depends on first, by distance; the others from the last on.
fn nearest_first(found: &Found) -> Vec<usize> {
    let mut places: Vec<usize> = (0..found.instances.list.len()).collect();
    places.sort_by_key(|place| (distance(found, *place), Reverse(*place)));
    places
}

fn distance(found: &Found, place: usize) -> u32 {
    found.distances.get(&place).copied().unwrap_or(u32::MAX)
}

/// The last decision of each condition.
fn last_of_each(found: &Found) -> Vec<usize> {
    let Instances { list, conditions, .. } = &found.instances;
    let mut last: Vec<Option<usize>> = vec![None; conditions.len()];
    for (place, instance) in list.iter().enumerate() {
        if let Some(known) = last.get_mut(instance.condition as usize) {
            *known = Some(place);
        }
    }
    let mut places: Vec<usize> = last.into_iter().flatten().collect();
    places.sort_by_key(|place| (distance(found, *place), Reverse(*place)));
    places
}

/// Decisions that may be the first of a pair: those that made the run come further, and others that are near.
fn promising(found: &Found, kind: &FailureKind) -> Vec<usize> {
    // A trial that ended as the failing run did came as far, whether it was run on to there or not.
    let own = match kind {
        FailureKind::WrongOutput(wrong) => wrong.offset,
        _ => 0,
    };
    let right = |trial: &Trial| match trial.ending {
        Ending::Failed { right, .. } => Some(right.unwrap_or(0)),
        Ending::AsTheSpine => Some(own),
        Ending::Passed | Ending::CutShort => None,
    };
    let mut further: Vec<(u64, u32, usize)> = found
        .trials
        .iter()
        .filter_map(|(place, trial)| Some((right(trial)?, distance(found, *place), *place)))
        .collect();
    further.sort_by_key(|(right, distance, place)| (Reverse(*right), *distance, Reverse(*place)));
    let mut chosen: Vec<usize> = further.iter().map(|(.., place)| *place).take(MOST_FIRST).collect();
    add_nearest(&mut chosen, found);
    chosen
}

/// Adds the nearest that are not among them, as far as distances are known.
fn add_nearest(chosen: &mut Vec<usize>, found: &Found) {
    let mut near: Vec<usize> = found.trials.iter().map(|(place, _)| *place).collect();
    near.retain(|place| !chosen.contains(place));
    near.sort_by_key(|place| (distance(found, *place), Reverse(*place)));
    chosen.extend(near.into_iter().take(MOST_FIRST));
}

/// Runs each to its end, on several threads.
fn run_all(work: Vec<Process>, rules: &Rules<'_>, threads: usize) -> Vec<Trial> {
    let count = work.len();
    let threads = threads.max(1);
    let mut shares: Vec<Vec<(usize, Process)>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, process) in work.into_iter().enumerate() {
        shares[number % threads].push((number, process));
    }
    let run = |share: Vec<(usize, Process)>| {
        let program = share.first().and_then(|(_, process)| rules.judge.program(process));
        let watched = rules.judge.watch(program.as_ref());
        let one = |(number, mut process): (usize, Process)| {
            let start = process.machine.time;
            let (ending, leavings) = trial::run(&mut process, rules, watched.as_ref());
            let instructions = process.machine.time.0.saturating_sub(start.0);
            (number, Trial { ending, instructions, leavings, begun: true, ..Trial::default() })
        };
        share.into_iter().map(one).collect::<Vec<_>>()
    };
    let mut made = vec![Trial::default(); count];
    for (number, trial) in in_threads(shares, run).into_iter().flatten() {
        rules.meter.tried_one();
        if let Some(place) = made.get_mut(number) {
            *place = trial;
        }
    }
    made
}
