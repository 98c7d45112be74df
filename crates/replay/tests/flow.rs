//! Where ways meet again and what decides about an instruction, asked by address of a loaded program.

mod common;

use common::{Scratch, line_at, line_of, load, view};
use machine::Time;
use replay::{Flow, Recording};

const BRANCHES: &str = "
int choose(int a, int b)
{
    int r = 0;
    if (a > 3) /* outer */
        if (b > 3) /* inner */
            r = 1; /* both */
        else
            r = 2; /* one */
    r += 5; /* after */
    while (a > 0) /* loop */
        a--; /* body */
    return r; /* end */
}
int main(void) { return choose(4, 5); }
";

#[test]
fn ways_meet_after_the_statement_and_inner_statements_depend_on_the_inner_condition() {
    let scratch = Scratch::new("flow");
    let process = load(&scratch.compile("branches", BRANCHES, &["-O0", "-no-pie"]), &[]);
    let program = view(&process);
    let flow = Flow::new(&program);
    let start = program.find_symbol("choose").unwrap().address;
    let function = flow.function(start).unwrap();
    assert_eq!(function.entry(), start);
    let line = |marker: &str| line_of(BRANCHES, marker);
    let blocks = &function.cfg().blocks;
    let branch = |marker: &str| {
        let found = blocks.iter().find(|block| {
            block.terminator.successors().count() == 2 && line_at(&program, block.last) == Some(line(marker))
        });
        found.unwrap().last
    };
    let meets = |marker: &str| line_at(&program, function.reconvergence(branch(marker)).unwrap()).unwrap();
    assert_eq!(meets("/* outer */"), line("/* after */"));
    assert_eq!(meets("/* inner */"), line("/* after */"));
    assert_eq!(meets("/* loop */"), line("/* end */"));
    let address_of = |marker: &str| {
        let rows = program.statements_of(start);
        rows.iter().find(|placed| placed.stmt.line == line(marker)).unwrap().ranges[0].start
    };
    assert_eq!(function.controllers(address_of("/* both */")), [branch("/* inner */")]);
    assert_eq!(function.controllers(address_of("/* inner */")), [branch("/* outer */")]);
    assert!(function.controllers(address_of("/* after */")).is_empty());
    assert_eq!(function.controllers(branch("/* loop */")), [branch("/* loop */")]);
    assert!(std::rc::Rc::ptr_eq(&function, &flow.function(start + 1).unwrap()), "one graph a function");
    assert!(flow.function(0x10).is_none());
}

const COMPUTED: &str = "
int main(int count, char **words)
{
    int n = 0;
    void *volatile slots[2];
    slots[0] = &&more;
    slots[1] = &&done;
again:
    n++;
    goto *slots[n > 3]; /* jump */
more:
    n += 1;
    goto again;
done:
    return n; /* end */
}
";

#[test]
fn transfers_that_were_learned_complete_a_graph_before_it_is_asked_for() {
    let scratch = Scratch::new("flow-learn");
    let process = load(&scratch.compile("computed", COMPUTED, &["-O0", "-no-pie"]), &[]);
    let program = view(&process);
    let main = program.find_symbol("main").unwrap().address;
    let unaware = Flow::new(&program);
    let before = unaware.function(main).unwrap();
    assert!(!before.cfg().is_complete(), "{}", program.cfg_text(before.cfg()));
    let jump = before.cfg().holes[0].address;
    let mut recording = Recording::make(process, Time(u64::MAX));
    let flow = Flow::new(&program);
    flow.learn_from(&mut recording);
    let function = flow.function(main).unwrap();
    let targets = |function: &replay::FunctionFlow| {
        let block = function.cfg().block(function.block_at(jump).unwrap()).unwrap();
        block.terminator.successors().count()
    };
    assert_eq!(targets(&function), 2);
    // Frozen: what comes later changes nothing.
    unaware.learn_from(&mut recording);
    assert_eq!(targets(&unaware.function(main).unwrap()), targets(&before));
}
