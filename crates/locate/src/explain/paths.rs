//! Ways from a decision to a failure.

use replay::failure::FailureKind;
use replay::story::{Told, WayBeginning};
use replay::{Bounds, Code, Follow, Question, Recording};

use crate::criterion::stream_of;
use crate::instances::Instances;
use crate::switching::{Change, Critical, Effect, Search};

/// The way from a decision to the failure; also by what it left out, if nothing else leads there.
pub fn path(
    search: &mut Search<'_, '_>,
    instances: &Instances,
    question: &Question,
    critical: &Critical,
) -> Vec<Told> {
    let beginning = WayBeginning {
        stmt: instances.known(&critical.instance).and_then(|known| known.stmt.clone()),
        is_it: &|time| instances.at(time) == Some(critical.place),
        is_under_way: &|time| instances.is_under_way(&critical.instance, time),
    };
    for follow in [Follow::Full, Follow::Relevant(Bounds::default())] {
        if search.recording.patience().is_over() {
            break;
        }
        let way = search.recording.way(search.code, question, follow, &beginning);
        if !way.is_empty() {
            return way;
        }
    }
    Vec::new()
}

/// The way to output that is missing: what never happened leads nowhere, so it is told how it comes about in the run in which the
/// decision goes the other way. The first step is the decision.
pub fn missed(search: &mut Search<'_, '_>, critical: &Critical) -> Vec<Told> {
    let FailureKind::WrongOutput(wrong) = &search.failure.kind else { return Vec::new() };
    let target = stream_of(&wrong.channel, wrong.offset);
    let is_plain = critical.effect == Effect::Repairs && matches!(critical.change, Change::Once);
    let Some(target) = target.filter(|_| is_plain && !search.recording.patience().is_over()) else {
        return Vec::new();
    };
    let mut process = search.recording.at(search.recording.start());
    critical.interventions.iter().for_each(|one| process.machine.intervene(one.clone()));
    let mut trial = Recording::make(process, search.deadline());
    trial.wait_no_longer_than(search.recording.patience().clone());
    let mut code = Code::new(search.flow.program(), search.scope.clone());
    let Ok(asked) = target.ask(&mut trial, &mut code) else { return Vec::new() };
    let begin = trial.program_start();
    let end = trial.end();
    let instances = Instances::of(&mut trial, search.flow, search.scope, begin, end);
    // Up to there both runs are the same; after it more of the condition's members may have been asked.
    let Some(place) = instances.at(critical.instance.time) else { return Vec::new() };
    let Some(instance) = instances.list.get(place) else { return Vec::new() };
    let beginning = WayBeginning {
        stmt: instances.known(instance).and_then(|known| known.stmt.clone()),
        is_it: &|time| instances.at(time) == Some(place),
        is_under_way: &|time| instances.is_under_way(instance, time),
    };
    trial.way(&mut code, &asked.question, Follow::Full, &beginning)
}
