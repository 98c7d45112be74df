//! Code that the stepper treats in some special way, put in place of a child's first instructions;
//! and machines made to err, to see that it is noticed.

use std::arch::asm;
use std::io::Write;

use lift::Reg;

use super::*;

/// The bytes of some instructions. They are assembled into this function, and jumped over.
macro_rules! code {
    ($($line:literal)+) => {{
        let (begin, end): (*const u8, *const u8);
        // SAFETY: nothing but the two addresses is computed; the code between them is never run here.
        unsafe {
            asm!(
                "lea {begin}, [rip + 2f]",
                "lea {end}, [rip + 3f]",
                "jmp 3f",
                "2:",
                $($line,)+
                "3:",
                begin = out(reg) begin,
                end = out(reg) end,
                options(nomem, nostack),
            );
            std::slice::from_raw_parts(begin, end.offset_from(begin) as usize)
        }
    }};
}

/// Both sides before this code; nothing, loudly, where tracing is not permitted.
fn before(code: &[u8]) -> Option<Stepper> {
    let command =
        Command { argv: vec!["/bin/true".into()], env: Vec::new(), cwd: "/".into(), stdin: Vec::new() };
    let native = match Native::start(&command) {
        Ok(native) => native,
        Err(Failure::NotPermitted(reason)) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED a test of the stepper: {reason}");
            return None;
        }
        Err(failure) => panic!("{failure}"),
    };
    let rip = native.registers().unwrap().rip;
    native.write(rip, code).unwrap();
    Some(Stepper::new(&command, native).unwrap())
}

/// Steps over all of the code and demands agreement.
fn agree(code: &[u8]) {
    let Some(mut stepper) = before(code) else { return };
    let end = stepper.process.machine.cpu.rip + code.len() as u64;
    while stepper.process.machine.cpu.rip != end {
        let next = stepper.step + 1;
        match stepper.report(next) {
            Ok(Report { end: End::Limit, .. }) => {}
            Ok(report) => panic!("{report}"),
            Err(failure) => panic!("{failure}"),
        }
    }
}

/// How code ends that does not get to its end.
fn end(code: &[u8]) -> Option<End> {
    match before(code)?.report(1000) {
        Ok(report) => Some(report.end),
        Err(failure) => panic!("{failure}"),
    }
}

/// What the stepper says of code before which something was changed on the machine's side.
fn divergence(code: &[u8], change: impl FnOnce(&mut Process)) -> Option<String> {
    let mut stepper = before(code)?;
    change(&mut stepper.process);
    match stepper.report(1000) {
        Err(Failure::Diverged(divergence)) => Some(divergence.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn repeated_string_instructions_are_one_step() {
    agree(code!(
        "sub rsp, 0x100"
        "mov rdi, rsp"
        "mov ecx, 100"
        "mov al, 0x5a"
        "rep stosb"
        "mov rsi, rsp"
        "lea rdi, [rsp + 0x80]"
        "mov ecx, 5"
        "rep movsq"
        "mov rdi, rsp"
        "mov ecx, 200"
        "repe scasb"
        "xor ecx, ecx"
        "rep stosb"
        "lea rsi, [rsp + 8]"
        "lea rdi, [rsp + 0x80]"
        "mov ecx, 64"
        "repe cmpsb"
        "std"
        "mov ecx, 3"
        "lea rdi, [rsp + 0x40]"
        "rep stosd"
        "cld"
    ));
}

#[test]
fn the_trap_flag_is_hidden_from_pushed_flags() {
    agree(code!(
        "pushfq"
        "pop rax"
        "mov eax, 0xcd5"
        "push rax"
        "popfq"
        "pushfq"
        "popfq"
        "pushfw"
        "pop dx"
        "std"
        "pushfq"
        "pop rax"
        "cld"
        "mov eax, 0x200000"
        "push rax"
        "popfq"
        "pushfq"
        "pop rbx"
    ));
}

#[test]
fn the_machine_answers_for_the_processor() {
    agree(code!(
        "xor eax, eax"
        "cpuid"
        "mov eax, 1"
        "cpuid"
        "rdtsc"
        "rdtscp"
    ));
}

#[test]
fn what_the_architecture_leaves_open_is_taken_from_the_processor() {
    agree(code!(
        "mov eax, 12345"
        "mov ecx, 7"
        "imul ecx"
        "mov edx, 0"
        "div ecx"
        "pushfq"
        "pop rsi"
        "shl eax, 5"
        "and eax, ecx"
        "lahf"
        "xor edx, edx"
        "mov rbx, -77"
        "bsf ebx, edx"
        "mov esi, 0x40490fdb"
        "movd xmm1, esi"
        "rcpss xmm0, xmm1"
        "rsqrtps xmm2, xmm1"
    ));
}

#[test]
fn saved_float_state_agrees() {
    agree(code!(
        "sub rsp, 0x400"
        "and rsp, -16"
        "mov eax, 0x3f800000"
        "movd xmm3, eax"
        "fxsave64 [rsp]"
        "pxor xmm3, xmm3"
        "fxrstor64 [rsp]"
    ));
}

#[test]
fn calls_about_memory_are_made_on_both_sides() {
    let found = end(code!(
        // Grows the heap and writes to its last byte.
        "mov eax, 12"
        "xor edi, edi"
        "syscall"
        "mov rbx, rax"
        "lea rdi, [rax + 0x3000]"
        "mov eax, 12"
        "syscall"
        "mov byte ptr [rbx + 0x2fff], 7"
        // Maps five pages.
        "mov eax, 9"
        "xor edi, edi"
        "mov esi, 0x5000"
        "mov edx, 3"
        "mov r10d, 0x22"
        "mov r8, -1"
        "xor r9d, r9d"
        "syscall"
        "mov rbx, rax"
        "mov dword ptr [rbx + 0x4ffc], 1234"
        // Makes 32 of them, at another place.
        "mov eax, 25"
        "mov rdi, rbx"
        "mov esi, 0x5000"
        "mov edx, 0x20000"
        "mov r10d, 1"
        "syscall"
        "mov rbx, rax"
        "mov dword ptr [rbx + 0x1fffc], 1234"
        // Protects the first, empties the next four, unmaps the second.
        "mov eax, 10"
        "mov rdi, rbx"
        "mov esi, 0x1000"
        "mov edx, 1"
        "syscall"
        "mov ecx, [rbx]"
        "mov eax, 28"
        "lea rdi, [rbx + 0x1000]"
        "mov esi, 0x4000"
        "mov edx, 4"
        "syscall"
        "mov ecx, [rbx + 0x4ffc]"
        "mov eax, 11"
        "lea rdi, [rbx + 0x1000]"
        "mov esi, 0x1000"
        "syscall"
        "mov rax, [rbx + 0x2000]"
        "mov byte ptr [rbx], 1"
    ));
    let Some(End::Fault(fault)) = found else { return assert_eq!(found, None) };
    assert!(fault.contains("Protected"), "{fault}");
}

#[test]
fn faults_end_a_run_when_both_sides_agree_on_them() {
    let cases: [(&[u8], &str); 9] = [
        (code!("mov al, [0x10]"), "Unmapped"),
        (code!("mov byte ptr [rip], 1"), "Protected"),
        (code!("xor ecx, ecx" "div ecx"), "DivideError"),
        (code!("ud2"), "InvalidOpcode"),
        (code!("int3"), "Breakpoint"),
        (code!("hlt"), "Privileged"),
        (code!("movaps xmm0, [rsp + 1]"), "GeneralProtection"),
        (code!("mov rax, 0x8000000000000000" "mov rax, [rax]"), "GeneralProtection"),
        // Over the end of the stack: the bytes before it are written all the same.
        (code!("lea rdi, [rsp + 8]" "mov ecx, 0x100000" "mov eax, 7" "rep stosq"), "Unmapped"),
    ];
    for (code, expected) in cases {
        match end(code) {
            Some(End::Fault(fault)) => assert!(fault.contains(expected), "{fault}, not {expected}"),
            None => return,
            other => panic!("{other:?}, not {expected}"),
        }
    }
}

#[test]
fn an_exit_ends_the_run_with_its_status() {
    if let Some(found) = end(code!("mov eax, 231" "mov edi, 7" "syscall")) {
        assert_eq!(found, End::Exited(7));
    }
}

#[test]
fn a_wrong_register_is_shown_with_the_instruction() {
    let code = code!("nop" "mov ecx, 5");
    let Some(text) = divergence(code, |process| process.machine.cpu.set(Reg::R13, 0x123)) else { return };
    assert!(text.contains("disagree at step 0\n"), "{text}");
    assert!(text.contains("90                              nop"), "{text}");
    assert!(text.contains("r13: machine 0x123, native 0x"), "{text}");
}

#[test]
fn a_wrong_store_is_found_at_once() {
    // The machine's memory holds another number to add to.
    let code = code!("nop" "add dword ptr [rsp], 5");
    let found = divergence(code, |process| {
        let rsp = process.machine.cpu.get(Reg::RSP);
        process.machine.memory.poke(rsp, &[0x77]).unwrap();
    });
    let Some(text) = found else { return };
    assert!(text.contains("disagree at step 1\n"), "{text}");
    assert!(text.contains("machine 7c") && text.contains("native 06"), "{text}");
}

#[test]
fn a_fast_machine_that_goes_astray_is_found() {
    let Some(mut stepper) = before(code!("nop" "add r13, 1")) else { return };
    stepper.shadow.process.machine.cpu.set(Reg::R13, 0x123);
    let Err(Failure::Diverged(divergence)) = stepper.report(2) else { panic!("not noticed") };
    let text = divergence.to_string();
    assert!(text.contains("r13 of the machine unwatched"), "{text}");
    assert!(text.contains("in /") && text.contains("ld-linux"), "{text}");
}

#[test]
fn a_page_that_nobody_looks_at_is_found_at_the_end() {
    let code = code!("mov eax, 231" "mov edi, 7" "syscall");
    let found = divergence(code, |process| {
        let rsp = process.machine.cpu.get(Reg::RSP);
        process.machine.memory.poke(rsp - 0x4000, &[0x77]).unwrap();
    });
    let Some(text) = found else { return };
    assert!(text.contains("machine 77 00") && text.contains("native 00 00"), "{text}");
}

#[test]
fn a_fault_on_one_side_only_is_a_difference() {
    let code = code!("mov rax, [rbx]" "ud2");
    let found = divergence(code, |process| {
        let rsp = process.machine.cpu.get(Reg::RSP);
        process.machine.cpu.set(Reg::RBX, rsp);
    });
    let Some(text) = found else { return };
    assert!(text.contains("fault: machine none, native Signal { number: 11"), "{text}");
}
