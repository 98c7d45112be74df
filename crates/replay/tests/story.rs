//! Questions as people ask them, and the stories that answer them.

mod guest;

use guest::Guest;
use program::Scope;
use replay::Code;
use replay::story::{AskError, Hit, Story, Target};

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
