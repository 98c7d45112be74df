//! Snapshots of real programs: a clone from any instant runs to the same end, on any thread, and what is altered
//! in a clone reaches nobody else.

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Barrier, Mutex};

use lift::{Condition, Op, Value};
use linux::fs::Stream;
use linux::{Config, Exit, Process};
use machine::{Action, Backing, Cpu, Edit, Intervention, Observer, Permissions, Region, Time, Unwatched};

/// Far longer than any of the runs here.
const BUDGET: Time = Time(50_000_000);
const CLONES: usize = 1000;
const THREADS: usize = 2;

/// All that can be seen of how a run ended.
#[derive(Clone, Debug, PartialEq)]
struct End {
    exit: Exit,
    time: Time,
    hash: u64,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn end<O: Observer>(mut process: Process, until: Time, observer: &mut O) -> End {
    let exit = process.run(until, observer);
    End {
        exit,
        time: process.machine.time,
        hash: process.state_hash(),
        stdout: process.kernel.output.contents(Stream::Stdout),
        stderr: process.kernel.output.contents(Stream::Stderr),
    }
}

/// A small generator (xorshift), so that each run of the tests tries the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

fn text(lines: u64) -> Vec<u8> {
    let mut random = Random(77);
    let words = ["apple", "pear", "fig", "quince", "medlar", "sloe", "plum"];
    let mut text = String::new();
    for number in 0..lines {
        text += &format!("{} {} {number}\n", random.pick(&words), random.below(1000));
    }
    text.into_bytes()
}

fn system(program: &str, arguments: &[&str]) -> Process {
    let mut config = Config::new(program);
    config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    config.env = vec![b"LC_ALL=C".to_vec(), b"PATH=/usr/bin:/bin".to_vec()];
    config.stdin = Arc::new(text(150));
    Process::load(&config).unwrap()
}

/// A static program of our own: recursion, the heap, floating point, output in many small writes.
const GUEST: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct node { struct node *left, *right; int key; double weight; };
static struct node *insert(struct node *n, int key) {
    if (!n) {
        n = calloc(1, sizeof *n);
        n->key = key;
        n->weight = key / 3.0;
    } else if (key < n->key) {
        n->left = insert(n->left, key);
    } else if (key > n->key) {
        n->right = insert(n->right, key);
    }
    return n;
}
static double walk(struct node *n, int depth) {
    if (!n)
        return 0;
    double sum = walk(n->left, depth + 1);
    if (n->key % 16 == 0) {
        char line[64];
        int length = snprintf(line, sizeof line, "%d at %d: %.3f\n", n->key, depth, n->weight);
        write(1, line, length);
    }
    return sum + n->weight + walk(n->right, depth + 1);
}
int main(void) {
    struct node *root = 0;
    unsigned key = 12345;
    for (int i = 0; i < 600; i++)
        root = insert(root, (key = key * 1103515245 + 12345) >> 16 & 1023);
    printf("%.6f\n", walk(root, 0));
    return 7;
}
"#;

fn guest() -> Process {
    let directory = std::env::temp_dir().join(format!("whydunit-snapshots-{}", std::process::id()));
    let program: PathBuf = directory.join(format!("{:?}", std::thread::current().id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = program.with_extension("c");
    std::fs::write(&source, GUEST).unwrap();
    let compiled = Command::new("gcc").args(["-O1", "-static", "-o"]).arg(&program).arg(&source).status();
    assert!(compiled.unwrap().success());
    let process = Process::load(&Config::new(&program)).unwrap();
    std::fs::remove_file(&source).unwrap();
    std::fs::remove_file(&program).unwrap();
    // The last one to leave; the others find it in use.
    let _ = std::fs::remove_dir(&directory);
    process
}

fn programs() -> Vec<(&'static str, Process)> {
    vec![
        ("sort", system("/usr/bin/sort", &["-k2n", "-k1"])),
        ("grep", system("/bin/grep", &["-n", "[aeiou]l*[a-n][ce]e* .*7"])),
        ("gzip", system("/bin/gzip", &["-9", "-c"])),
        ("guest", guest()),
    ]
}

/// Takes jobs from a queue, on several threads, until it is closed.
fn work<T: Send>(queue: Receiver<T>, serve: impl Fn(T) + Sync) {
    let queue = Mutex::new(queue);
    let take = || queue.lock().unwrap().recv().ok();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(job) = take() {
                    serve(job);
                }
            });
        }
    });
}

#[test]
fn clones_at_a_thousand_random_times_run_to_the_same_end() {
    let mut random = Random(2024);
    let programs = programs();
    let each = CLONES / programs.len();
    for (name, mut spine) in programs {
        let whole = end(spine.fork(), BUDGET, &mut Unwatched);
        assert!(whole.time > Time(100_000) && whole.time < Time(5_000_000), "{name} takes {:?}", whole.time);
        assert!(whole.stdout.len() > 100, "{name}: {whole:?}");
        let mut times: Vec<u64> = (0..each).map(|_| random.below(whole.time.0)).collect();
        times.sort_unstable();
        // No more than a handful of clones wait at any time.
        let (sender, queue) = sync_channel(4);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (number, time) in times.iter().enumerate() {
                    assert_eq!(spine.run(Time(*time), &mut Unwatched), Exit::Until);
                    if sender.send((number, spine.fork())).is_err() {
                        break;
                    }
                }
                drop(sender);
            });
            work(queue, |(number, mut clone): (usize, Process)| {
                let time = clone.machine.time;
                // Some are cloned once more on their way, and both run on.
                if number.is_multiple_of(5) {
                    let middle = Time(time.0.midpoint(whole.time.0));
                    assert_eq!(clone.run(middle, &mut Unwatched), Exit::Until);
                    let again = end(clone.fork(), BUDGET, &mut Unwatched);
                    assert!(again == whole, "{name}, a clone at {middle:?} of one at {time:?}: {again:?}");
                }
                let ended = end(clone, BUDGET, &mut Unwatched);
                assert!(ended == whole, "{name}, a clone at {time:?}: {ended:?}");
            });
        });
        assert!(end(spine, BUDGET, &mut Unwatched) == whole, "{name}, after all its clones");
    }
}

#[test]
fn clones_that_lift_the_same_code_at_once_run_alike() {
    for (name, mut process) in programs() {
        let whole = end(process.fork(), BUDGET, &mut Unwatched);
        for round in 0..6 {
            // Nothing has been lifted in this space: the clones race for every block and every link.
            let mut fresh = process.fork();
            leave_shared_code(&mut fresh);
            assert_eq!(fresh.fork().machine.block_count(), 0);
            let barrier = Barrier::new(4);
            std::thread::scope(|scope| {
                for clone in [fresh.fork(), fresh.fork(), fresh.fork(), fresh.fork()] {
                    scope.spawn(|| {
                        barrier.wait();
                        let ended = end(clone, BUDGET, &mut Unwatched);
                        assert!(ended == whole, "{name}, round {round}: {ended:?}");
                    });
                }
            });
        }
    }
}

/// Makes a process leave the code that it shares with others, with no change to its state.
fn leave_shared_code(process: &mut Process) {
    let (start, end) = (0x1000_0000, 0x1000_1000);
    let memory = &mut process.machine.memory;
    assert!(memory.region_at(start).is_none());
    memory.map(Region {
        start,
        end,
        permissions: Permissions::RX,
        backing: Backing::Zero,
        name: "".into(),
        shared: false,
    });
    memory.unmap(start, end);
}

/// What a run offers to alter.
#[derive(Default)]
struct Places {
    instructions: u64,
    now: u64,
    /// Conditions, by time and address.
    conditions: Vec<(Time, u64)>,
    /// Instructions with a constant operand.
    constants: Vec<(u64, u64)>,
    /// Every so many instructions, the address and the value of a register.
    samples: Vec<(Time, u64, lift::Reg)>,
    stores: Vec<(Time, u64)>,
}

impl Observer for Places {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], _: &Cpu) {
        assert_eq!(time, Time(self.instructions), "each instruction is told once, in order");
        self.instructions += 1;
        self.now = time.0;
        if !time.0.is_multiple_of(101) {
            return;
        }
        for op in ops {
            match op {
                Op::Binary { b: Value::Const(constant), dst, .. } => {
                    self.constants.push((address, *constant));
                    self.samples.push((time, address, *dst));
                }
                Op::Flags { b: Value::Const(constant), .. } => self.constants.push((address, *constant)),
                _ => {}
            }
        }
    }

    fn condition(&mut self, time: Time, address: u64, _: bool) {
        self.conditions.push((time, address));
    }

    fn store(&mut self, address: u64, bytes: u64) {
        if self.stores.len() < 10_000 && bytes == 8 {
            self.stores.push((Time(self.now + 1), address));
        }
    }
}

#[test]
fn a_watched_run_is_the_unwatched_one() {
    for (name, mut process) in programs() {
        let mut places = Places::default();
        let watched = end(process.fork(), BUDGET, &mut places);
        assert!(watched == end(process, BUDGET, &mut Unwatched), "{name}");
        assert_eq!(places.instructions, watched.time.0, "{name}");
    }
}

/// One alteration of each kind, and from when on it can be asked for.
fn alterations(random: &mut Random, places: &Places) -> Vec<(Time, Intervention)> {
    let (time, address) = random.pick(&places.conditions);
    let (stored, target) = random.pick(&places.stores);
    let (sampled, skipped, reg) = random.pick(&places.samples);
    let (constant_at, from) = random.pick(&places.constants);
    let value = random.next();
    let condition = random.pick(&Condition::ALL);
    let side = random.below(2) == 0;
    vec![
        (time, Intervention::At(time, Action::FlipBranch)),
        (time, Intervention::At(time, Action::ForceCondition(side))),
        (sampled, Intervention::At(sampled, Action::SetValue { reg, value })),
        (
            stored,
            Intervention::At(stored, Action::Poke { address: target, bytes: value.to_le_bytes().into() }),
        ),
        (time, Intervention::Always(address, Edit::Condition(condition))),
        (sampled, Intervention::Always(skipped, Edit::Skip)),
        (sampled, Intervention::Always(constant_at, Edit::Constant { from, to: from.wrapping_add(1) })),
    ]
}

#[test]
fn what_is_altered_in_a_clone_reaches_nobody_else() {
    let mut random = Random(4096);
    for (name, mut process) in programs() {
        let mut places = Places::default();
        let whole = end(process.fork(), BUDGET, &mut places);
        // An altered run may never end.
        let budget = Time(whole.time.0 * 2);
        let mut altered: Vec<(Time, Intervention)> =
            (0..15).flat_map(|_| alterations(&mut random, &places)).collect();
        altered.sort_by_key(|(time, _)| *time);
        let changed = Mutex::new(0);
        let (sender, queue) = sync_channel(4);
        let total = altered.len();
        std::thread::scope(|scope| {
            let spine = &mut process;
            scope.spawn(move || {
                for (time, intervention) in altered {
                    // From the instant itself, and from some time before it.
                    let before = Time(time.0.saturating_sub(1000).max(spine.machine.time.0));
                    assert_eq!(spine.run(before, &mut Unwatched), Exit::Until);
                    if sender.send((spine.fork(), Some(intervention.clone()))).is_err() {
                        return;
                    }
                    assert_eq!(spine.run(time, &mut Unwatched), Exit::Until);
                    let _ = sender.send((spine.fork(), Some(intervention)));
                    let _ = sender.send((spine.fork(), None));
                }
            });
            work(queue, |(mut clone, intervention): (Process, Option<Intervention>)| match intervention {
                Some(intervention) => {
                    clone.machine.intervene(intervention.clone());
                    let mut bystander = clone.fork();
                    let ended = end(clone, budget, &mut Unwatched);
                    *changed.lock().unwrap() += usize::from(ended != whole);
                    // The clone of an altered clone is altered likewise.
                    bystander.run(Time(bystander.machine.time.0 + 500), &mut Unwatched);
                    let again = end(bystander, budget, &mut Unwatched);
                    assert!(again == ended, "{name}, {intervention:?}: {again:?}, not {ended:?}");
                }
                None => {
                    let time = clone.machine.time;
                    let ended = end(clone, BUDGET, &mut Unwatched);
                    assert!(ended == whole, "{name}, a clone at {time:?} beside altered ones: {ended:?}");
                }
            });
        });
        let changed = changed.into_inner().unwrap();
        assert!(changed > total / 2, "{name}: only {changed} of {total} alterations changed the end");
        assert!(end(process, BUDGET, &mut Unwatched) == whole, "{name}, the original after all");
    }
}
