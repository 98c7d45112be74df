//! The processor's side: a long-lived child that executes batches of cases.
//!
//! Cases and outcomes lie in memory shared with the child, and a batch is handed over as a whole,
//! so that a case costs no system call unless it faults.

use super::child::{self, NO_TRAP, OWN_FAULT, SETUP_FAILED, Segments};
use super::layout::{CODE, CODE_BYTES, EXIT_JUMP, FILLING, IMAGE_BYTES, SLOTS};
use super::state::{Case, Changes, Fault, FaultKind, Outcome, Patches, State, Step};
use std::io;
use std::mem::offset_of;
use std::time::{Duration, Instant};

/// One case in shared memory: what to run, then what came of it.
#[repr(C, align(64))]
pub struct Record {
    pub input: State,
    pub patches: Patches,
    pub output: State,
    /// The number of the exception, or [`NO_TRAP`].
    pub trap: u32,
    /// What the processor pushes with some exceptions.
    pub trap_error: u32,
    pub trap_address: u64,
    pub changes: Changes,
}

/// Starts on a page of its own, so that the child can map it where the cases expect it.
#[repr(C, align(4096))]
pub struct PageAligned<T>(pub T);

#[repr(C, align(4096))]
pub struct Shared {
    /// The slot that the child is working on, to name the case that killed it.
    pub progress: u64,
    pub image: PageAligned<[u8; IMAGE_BYTES]>,
    pub code: PageAligned<[u8; CODE_BYTES]>,
    pub records: [Record; SLOTS],
}

/// Why a batch has no outcomes.
#[derive(Debug)]
pub enum NativeError {
    /// The child could not be started; the text says what failed.
    Start(String),
    /// The case with this place in the batch ended or blocked the child.
    Lost { slot: usize, how: String },
}

/// The child with the memory that it shares with us. Must be dropped by the thread that made it:
/// the kernel ends the child when its parent thread ends.
pub struct Native {
    shared: *mut Shared,
    file: i32,
    image: Box<[u8; IMAGE_BYTES]>,
    child: Option<Child>,
}

struct Child {
    process: i32,
    requests: i32,
    replies: i32,
}

impl Native {
    pub fn start(image: &[u8; IMAGE_BYTES]) -> Result<Native, NativeError> {
        let file = unsafe { libc::memfd_create(c"cases".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(start_error("memfd_create"));
        }
        let shared = unsafe {
            let size = size_of::<Shared>();
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let sized = libc::ftruncate(file, size as i64) == 0;
            let memory = libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, file, 0);
            if !sized || memory == libc::MAP_FAILED {
                let error = start_error("shared memory");
                libc::close(file);
                return Err(error);
            }
            memory.cast::<Shared>()
        };
        let mut native = Native { shared, file, image: Box::new(*image), child: None };
        native.ensure_child()?;
        Ok(native)
    }

    /// Runs up to [`SLOTS`] cases and gives their outcomes. After an error the next batch starts a
    /// new child.
    pub fn run(&mut self, cases: &[Case]) -> Result<Vec<Outcome>, NativeError> {
        self.ensure_child()?;
        self.write_batch(cases);
        self.exchange(cases.len())?;
        let records = unsafe { &(&(*self.shared).records)[..cases.len()] };
        Ok(cases.iter().zip(records).map(|(case, record)| outcome(case, record)).collect())
    }

    fn write_batch(&mut self, cases: &[Case]) {
        // SAFETY: the child sleeps until it is sent the next request.
        let shared = unsafe { &mut *self.shared };
        shared.image.0.copy_from_slice(&self.image[..]);
        write_code(cases, &mut shared.code.0);
        for (record, case) in shared.records.iter_mut().zip(cases) {
            record.input = case.input;
            record.patches = case.patches;
        }
    }

    fn exchange(&mut self, count: usize) -> Result<(), NativeError> {
        let Some(child) = &self.child else { return Err(start_error("child")) };
        let request = (count as u32).to_ne_bytes();
        let sent = unsafe { libc::write(child.requests, request.as_ptr().cast(), request.len()) };
        let outcome = if sent == 4 { child.await_reply() } else { Err("does not listen".to_string()) };
        outcome.map_err(|how| {
            let slot = unsafe { (&raw const (*self.shared).progress).read_volatile() } as usize;
            self.child = None;
            NativeError::Lost { slot, how }
        })
    }

    fn ensure_child(&mut self) -> Result<(), NativeError> {
        if self.child.is_some() {
            return Ok(());
        }
        let (requests, replies) = (pipe()?, pipe()?);
        let segments = Segments {
            file: self.file,
            code: offset_of!(Shared, code) as i64,
            image: offset_of!(Shared, image) as i64,
        };
        // SAFETY: the child calls nothing that another thread of ours might hold a lock on.
        let process = unsafe { libc::fork() };
        match process {
            -1 => return Err(start_error("fork")),
            0 => unsafe { child::serve(self.shared, &segments, requests[0], replies[1]) },
            _ => unsafe {
                libc::close(requests[0]);
                libc::close(replies[1]);
            },
        }
        self.child = Some(Child { process, requests: requests[1], replies: replies[0] });
        // An empty batch tells whether the child could be set up.
        self.exchange(0).map_err(|error| match error {
            NativeError::Lost { how, .. } => NativeError::Start(how),
            other => other,
        })
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.child = None;
        unsafe {
            libc::munmap(self.shared.cast(), size_of::<Shared>());
            libc::close(self.file);
        }
    }
}

impl Child {
    /// Waits for the end of a batch, or tells how the child ended.
    fn await_reply(&self) -> Result<(), String> {
        const STEP_MILLISECONDS: i32 = 100;
        const LIMIT: Duration = Duration::from_secs(20);
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            let mut wait = libc::pollfd { fd: self.replies, events: libc::POLLIN, revents: 0 };
            // SAFETY: all pointers are to locals that live long enough.
            unsafe {
                if libc::poll(&mut wait, 1, STEP_MILLISECONDS) > 0 && wait.revents & libc::POLLIN != 0 {
                    let mut reply = [0u8; 4];
                    libc::read(self.replies, reply.as_mut_ptr().cast(), reply.len());
                    return Ok(());
                }
                let mut info: libc::siginfo_t = std::mem::zeroed();
                let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                if libc::waitid(libc::P_PID, self.process as u32, &mut info, flags) == 0 && info.si_pid() != 0
                {
                    return Err(describe_end(info.si_code, info.si_status()));
                }
            }
            // A closed pipe ends the poll at once, some time before the child counts as ended.
            std::thread::sleep(Duration::from_millis(1));
        }
        Err("did not come back in time".to_string())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            libc::waitpid(self.process, std::ptr::null_mut(), 0);
            libc::close(self.requests);
            libc::close(self.replies);
        }
    }
}

/// Lays the cases out in the code area, each followed by the jump out and surrounded by traps.
pub fn write_code(cases: &[Case], code: &mut [u8]) {
    code.fill(FILLING);
    for case in cases {
        let mut at = (case.input.rip - CODE) as usize;
        for piece in case.steps.iter().map(Step::bytes).chain([&EXIT_JUMP[..]]) {
            code[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        }
    }
}

fn outcome(case: &Case, record: &Record) -> Outcome {
    /// Set in the flags that a fault handler sees; says nothing about the instruction.
    const RESUME: u64 = 1 << 16;
    let mut state = record.output;
    let (mut fault, mut landing) = (None, None);
    state.float.unused = [0; 6];
    state.rflags &= !RESUME;
    if record.trap == NO_TRAP {
        state.rip = case.next_rip();
    } else {
        const BREAKPOINT: u32 = 3;
        if record.trap == BREAKPOINT {
            state.rip = state.rip.wrapping_sub(1);
        }
        // Where rip has moved on, the case completed, and what it jumped to trapped.
        let trap = Some(translate(record));
        *(if case.contains(state.rip) { &mut fault } else { &mut landing }) = trap;
    }
    Outcome { state, fault, landing, changes: record.changes }
}

fn translate(record: &Record) -> Fault {
    /// In the error code of a page fault.
    const WRITE: u32 = 1 << 1;
    let kind = match record.trap {
        0 => FaultKind::DivideError,
        3 => FaultKind::Breakpoint,
        6 => FaultKind::InvalidOpcode,
        12 | 13 => FaultKind::Protection,
        14 => FaultKind::PageFault,
        17 => FaultKind::AlignmentCheck,
        19 => FaultKind::FloatException,
        _ => FaultKind::Other,
    };
    match kind {
        FaultKind::PageFault => {
            Fault { kind, address: record.trap_address, write: record.trap_error & WRITE != 0 }
        }
        _ => Fault::without_address(kind),
    }
}

fn pipe() -> Result<[i32; 2], NativeError> {
    let mut ends = [0; 2];
    match unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } {
        0 => Ok(ends),
        _ => Err(start_error("pipe")),
    }
}

fn start_error(what: &str) -> NativeError {
    NativeError::Start(format!("{what}: {}", io::Error::last_os_error()))
}

fn describe_end(code: i32, status: i32) -> String {
    match (code, status) {
        (libc::CLD_EXITED, OWN_FAULT) => "the child faulted in its own code".to_string(),
        (libc::CLD_EXITED, status) if status >= SETUP_FAILED => {
            format!("step {} of the child's set-up failed", status - SETUP_FAILED)
        }
        (libc::CLD_EXITED, status) => format!("the child exited with status {status}"),
        (_, signal) => format!("the child was killed by signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::forms::GROUPS;
    use crate::fuzz::generate::Generator;
    use crate::fuzz::state::CHUNK;
    use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

    fn first(case: &Case) -> &Instruction {
        &case.steps[0].instruction
    }

    fn run(cases: &[Case], seed: u64) -> Vec<Outcome> {
        let mut native = Native::start(&Generator::image(seed)).expect("the child starts");
        native.run(cases).expect("the child comes back")
    }

    /// The same in another slot.
    fn moved(mut case: Case, slot: usize) -> Case {
        case.input.rip = crate::fuzz::layout::entry(slot);
        let step = &mut case.steps[0];
        step.instruction = Decoder::with_ip(64, &step.bytes, case.input.rip, DecoderOptions::NONE).decode();
        case
    }

    #[test]
    fn the_processor_gives_the_same_outcome_twice() {
        for group in GROUPS {
            let mut generator = Generator::new(group, 3);
            let cases: Vec<Case> = (0..SLOTS as u64).map(|index| generator.case(index)).collect();
            let mut native = Native::start(&Generator::image(3)).expect("the child starts");
            let first = native.run(&cases).unwrap_or_else(|error| panic!("{group}: {error:?}"));
            let second = native.run(&cases).expect("the child comes back");
            for ((case, first), second) in cases.iter().zip(&first).zip(&second) {
                assert!(
                    first == second,
                    "{group} {}: {:x?}\n{:x?}",
                    super::tests::first(case),
                    first.state,
                    second.state
                );
            }
        }
    }

    /// The case of an addition and its outcome, where source and destination are registers.
    #[test]
    fn sums_and_flags_are_what_arithmetic_says() {
        let mut generator = Generator::new("alu", 9);
        let cases: Vec<Case> = (0..SLOTS as u64 * 40)
            .map(|index| generator.case(index))
            .filter(|case| first(case).code() == Code::Add_rm64_r64)
            .filter(|case| first(case).op0_kind() == OpKind::Register)
            .take(SLOTS)
            .enumerate()
            .map(|(slot, case)| moved(case, slot))
            .collect();
        assert!(cases.len() > 50);
        for (case, outcome) in cases.iter().zip(run(&cases, 9)) {
            let (to, from) = (first(case).op0_register().number(), first(case).op1_register().number());
            let (a, b) = (case.input.general[to], case.input.general[from]);
            let (sum, carry) = a.overflowing_add(b);
            let overflow = (a as i64).overflowing_add(b as i64).1;
            assert_eq!(outcome.fault, None);
            assert_eq!(outcome.state.general[to], sum);
            assert_eq!(outcome.state.rflags & 1 != 0, carry);
            assert_eq!(outcome.state.rflags & (1 << 6) != 0, sum == 0);
            assert_eq!(outcome.state.rflags & (1 << 7) != 0, (sum as i64) < 0);
            assert_eq!(outcome.state.rflags & (1 << 11) != 0, overflow);
            assert_eq!(outcome.state.rip, case.next_rip());
            assert!(outcome.changes.chunks().is_empty());
        }
    }

    #[test]
    fn stores_faults_and_landings_are_seen() {
        let mut counts = [0; 4];
        for (group, mnemonic) in [("data-movement", Mnemonic::Mov), ("control-flow", Mnemonic::Jmp)] {
            let mut generator = Generator::new(group, 4);
            let cases: Vec<Case> = (0..SLOTS as u64).map(|index| generator.case(index)).collect();
            for (case, outcome) in cases.iter().zip(run(&cases, 4)) {
                if first(case).mnemonic() == mnemonic {
                    counts[0] +=
                        usize::from(outcome.changes.chunks().iter().any(|chunk| chunk.bytes.len() == CHUNK));
                    counts[1] +=
                        usize::from(outcome.fault.is_some_and(|fault| fault.kind == FaultKind::PageFault));
                    counts[2] +=
                        usize::from(outcome.fault.is_some_and(|fault| fault.kind == FaultKind::Protection));
                    counts[3] += usize::from(outcome.fault.is_none() && outcome.state.rip != case.next_rip());
                }
            }
        }
        assert!(counts.iter().all(|&count| count > 3), "{counts:?}");
    }

    #[test]
    fn a_lost_child_is_named_and_replaced() {
        let mut generator = Generator::new("nop-fence", 4);
        let mut cases: Vec<Case> = (0..4).map(|index| generator.case(index)).collect();
        let mut native = Native::start(&Generator::image(4)).expect("the child starts");
        // exit_group(3) in the third case.
        cases[2].steps[0].bytes[..2].copy_from_slice(&[0x0f, 0x05]);
        cases[2].input.general[0] = libc::SYS_exit_group as u64;
        cases[2].input.general[7] = 3;
        match native.run(&cases) {
            Err(NativeError::Lost { slot: 2, how }) => assert!(how.contains("status 3"), "{how}"),
            other => panic!("{other:?}"),
        }
        cases.truncate(2);
        assert_eq!(native.run(&cases).map(|outcomes| outcomes.len()).ok(), Some(2));
    }
}
