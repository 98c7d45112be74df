//! Questions as people ask them, and the stories that answer them.

mod guest;

use guest::Guest;
use program::Scope;
use replay::story::{AskError, Hit, Role, Story, Subject, Target};
use replay::{Code, Follow, Question, Slice, Unseen};

fn tell(guest: &mut Guest, at: &str, hit: Hit) -> Result<Story, AskError> {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let asked = Target::parse(at, hit)?.ask(&mut guest.recording, &mut code)?;
    Ok(guest.recording.story(&mut code, asked, 8))
}

/// The lines of the steps, in their order.
fn lines(story: &Story) -> Vec<u32> {
    story.steps.iter().filter_map(|step| Some(step.stmt.as_ref()?.line)).collect()
}

#[test]
fn a_status_that_main_returns_leads_to_its_return_statement() {
    let mut guest = Guest::compile("status.c", &["-O0"], &["5"]);
    let story = tell(&mut guest, "exit", Hit::Last).unwrap();
    assert_eq!(lines(&story)[..2], [10, 9]);
}

#[test]
fn a_value_is_that_after_the_statement_if_the_statement_writes_it() {
    let mut guest = Guest::compile("status.c", &["-O0"], &["5"]);
    for (at, expected) in [("status.c:9:status", true), ("status.c:10:status", false)] {
        let story = tell(&mut guest, at, Hit::Last).unwrap();
        let Subject::Value { value, is_after, .. } = &story.asked.subject else { panic!("{at}") };
        assert_eq!((value.as_str(), *is_after), ("10", expected), "{at}");
    }
}

#[test]
fn the_executions_of_a_line_are_counted() {
    let mut guest = Guest::compile("rounds.c", &["-O0"], &[]);
    for (hit, value) in [(Hit::Nth(1), "1"), (Hit::Nth(3), "6"), (Hit::Last, "15")] {
        let story = tell(&mut guest, "rounds.c:5:sum", hit).unwrap();
        let Subject::Value { value: found, .. } = &story.asked.subject else { panic!() };
        assert_eq!((found.as_str(), story.asked.hit.unwrap().1), (value, 5));
    }
    let error = tell(&mut guest, "rounds.c:5", Hit::Nth(6)).unwrap_err();
    assert!(matches!(error, AskError::NoHit { hits: 5, .. }), "{error}");
    assert!(!error.is_usage());
}

#[test]
fn rounds_of_a_loop_are_one_step_and_conditions_say_which_way_they_went() {
    let mut guest = Guest::compile("rounds.c", &["-O0"], &[]);
    let story = tell(&mut guest, "rounds.c:6:sum", Hit::Last).unwrap();
    let adding = story.steps.iter().find(|step| step.stmt.as_ref().unwrap().line == 5).unwrap();
    let repeats = adding.repeats.as_ref().unwrap();
    assert_eq!((repeats.times, repeats.made[0].value.as_deref()), (5, Some("1")));
    let condition = story.steps.iter().find(|step| matches!(step.role, Role::Decides { .. })).unwrap();
    assert_eq!(condition.role, Role::Decides { holds: Some(true) });
}

#[test]
fn every_near_user_of_a_value_has_its_edge_to_what_made_it() {
    for compiler in ["gcc", "clang"] {
        let mut guest = Guest::compile_by(compiler, "shared.c", &["-O0"], &["5"]);
        let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
        let target = Target::parse("shared.c:12:sum", Hit::Last).unwrap();
        let question = target.ask(&mut guest.recording, &mut code).unwrap().question;
        let edges = guest.recording.edges(&mut code, &question, Follow::Data, 4);
        let line = |place: usize| edges.instances[place].stmt.as_ref().map(|stmt| stmt.line);
        let mut users: Vec<Option<u32>> = (0..edges.instances.len())
            .filter(|user| edges.instances[*user].edges.iter().any(|edge| line(edge.to) == Some(7)))
            .map(line)
            .collect();
        users.sort_unstable();
        assert_eq!(users, [Some(8), Some(9), Some(11)], "{compiler}");
    }
}

#[test]
fn several_criteria_have_the_slice_of_all_of_them() {
    let mut guest = Guest::compile("two_parts.c", &["-O0"], &["2", "1"]);
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let mut ask = |at: &str| {
        let target = Target::parse(at, Hit::Last).unwrap();
        target.ask(&mut guest.recording, &mut code).unwrap().question
    };
    let questions: Vec<Question> =
        ["two_parts.c:12:c", "two_parts.c:21:y", "two_parts.c:17:d"].iter().map(|at| ask(at)).collect();
    let mut slice = |questions: &[Question]| {
        guest.recording.slice_of_all(&mut code, questions, Follow::Full, &mut Unseen)
    };
    let all = slice(&questions);
    let parts: Vec<Slice> = questions.iter().map(|question| slice(std::slice::from_ref(question))).collect();
    let mut expected: Vec<_> = parts.iter().flat_map(|part| part.statements.keys()).collect();
    expected.sort();
    expected.dedup();
    assert!(all.statements.keys().eq(expected));
    // Each statement ran once, whichever criteria it serves.
    assert!(all.statements.values().all(|share| share.instances == 1));
}

#[test]
fn what_wrote_to_other_elements_is_beside_a_value_until_that_is_used() {
    let mut guest = Guest::compile("beside.c", &["-O0"], &[]);
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let target = Target::parse("beside.c:12:late", Hit::Last).unwrap();
    let question = target.ask(&mut guest.recording, &mut code).unwrap().question;
    let beside = guest.recording.beside(&mut code, &question);
    // Neither another field nor what came later; the loop wrote other elements as well.
    let lines: Vec<u32> = beside.iter().map(|write| write.stmt.line).collect();
    assert_eq!(lines, [9, 11, 8]);
}
