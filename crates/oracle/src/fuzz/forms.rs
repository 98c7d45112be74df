//! The instruction forms that are fuzzed, by group.
//!
//! The decoder's own table of opcodes is the list: every form of the integer, x87 and SSE sets up to SSE4.2 is
//! in a group, or left out for a reason written here.

use std::sync::LazyLock;

use iced_x86::{Code, CpuidFeature, EncodingKind, MemorySize, Mnemonic, OpCodeOperandKind};

/// The groups, under the names that `tests/ratchet.toml` uses.
pub const GROUPS: &[&str] = &[
    "alu",
    "mul-div",
    "shift-rotate",
    "bit-test-scan",
    "data-movement",
    "conditional",
    "stack",
    "flags",
    "exchange-atomic",
    "string",
    "control-flow",
    "trap",
    "system-call",
    "nop-fence",
    "sse-move",
    "sse-shuffle",
    "sse-logic",
    "sse-float-scalar",
    "sse-float-packed",
    "sse-compare",
    "sse-convert",
    "sse-approximate",
    "sse2-integer",
    "sse3",
    "ssse3",
    "sse4-move",
    "sse4-integer",
    "sse4-float",
    "sse4-string",
    "mxcsr",
    "fxsave",
    "x87-transfer",
    "x87-arithmetic",
    "x87-compare",
    "x87-control",
    "x87-transcendental",
    BLOCKS,
];

/// The group whose cases are several instructions in a row, as executors run them: they fuse some,
/// and compute flags late.
pub const BLOCKS: &str = "blocks";

/// Every form of a group, in the decoder's order.
pub fn forms(group: &str) -> Vec<Code> {
    if group == BLOCKS {
        return Code::values().filter(|&code| is_straight(code)).collect();
    }
    Code::values().filter(|&code| place(code) == Ok(group)).collect()
}

/// Whether the form works on the x87 state.
pub fn is_x87(code: Code) -> bool {
    place(code).is_ok_and(|group| group.starts_with("x87") || group == "fxsave")
}

/// The forms of cmp and test.
pub fn comparisons() -> &'static [Code] {
    static FORMS: LazyLock<Vec<Code>> =
        LazyLock::new(|| by_mnemonic("alu", |mnemonic| matches!(mnemonic, Mnemonic::Cmp | Mnemonic::Test)));
    &FORMS
}

/// The conditional jumps that reach every slot.
pub fn jumps() -> &'static [Code] {
    static FORMS: LazyLock<Vec<Code>> = LazyLock::new(|| {
        let forms = forms("control-flow").into_iter();
        forms.filter(|code| code.is_jcc_near()).collect()
    });
    &FORMS
}

fn by_mnemonic(group: &str, wanted: fn(Mnemonic) -> bool) -> Vec<Code> {
    forms(group).into_iter().filter(|code| wanted(code.mnemonic())).collect()
}

/// Whether the form can stand anywhere in a block, and what it leaves undefined is known without
/// running it.
fn is_straight(code: Code) -> bool {
    use Mnemonic::*;
    let by_register = code.op_code().op_kinds().contains(&OpCodeOperandKind::cl);
    let in_group = matches!(
        place(code),
        Ok("alu"
            | "mul-div"
            | "shift-rotate"
            | "bit-test-scan"
            | "data-movement"
            | "conditional"
            | "stack"
            | "exchange-atomic"
            | "sse-move"
            | "sse-shuffle"
            | "sse-logic"
            | "sse2-integer"
            | "sse3"
            | "ssse3"
            | "sse4-move"
            | "sse4-integer"
            | "x87-transfer"
            | "x87-arithmetic"
            | "x87-compare"
            | "sse-float-scalar"
            | "sse-compare")
    );
    // A quotient has no flags, a scan of zero no result, and enter and the masked move fault in
    // their own ways.
    let special = matches!(
        code.mnemonic(),
        Div | Idiv | Bsf | Bsr | Shld | Shrd | Rcl | Rcr | Enter | Leave | Maskmovdqu
    );
    in_group && !special && !by_register
}

/// The group of a form, or why it is in none.
pub fn place(code: Code) -> Result<&'static str, &'static str> {
    let opcode = code.op_code();
    if !opcode.is_instruction() || !opcode.mode64() || !opcode.intel_decoder64() {
        return Err("is no instruction of 64-bit mode");
    }
    if opcode.encoding() != EncodingKind::Legacy {
        return Err("belongs to AVX and later extensions");
    }
    if matches!(code.mnemonic(), Mnemonic::Cpuid | Mnemonic::Rdtsc | Mnemonic::Rdtscp | Mnemonic::Xgetbv) {
        return Err("gives what the machine defines in its own way");
    }
    if !code.cpuid_features().iter().all(|&feature| baseline(feature)) {
        return Err("needs an extension beyond SSE4.2");
    }
    if opcode.op_kinds().iter().any(|&kind| touches_mmx(kind)) {
        return Err("uses an MMX register");
    }
    if let Some(reason) = left_out(code) {
        return Err(reason);
    }
    group(code)
}

fn baseline(feature: CpuidFeature) -> bool {
    use CpuidFeature::*;
    match feature {
        // What older processors take for bsf and bsr.
        BMI1 => return is_x86_feature_detected!("bmi1"),
        LZCNT => return is_x86_feature_detected!("lzcnt"),
        POPCNT => return is_x86_feature_detected!("popcnt"),
        // What processors of the last fifteen years have.
        SSE3 => return is_x86_feature_detected!("sse3"),
        SSSE3 => return is_x86_feature_detected!("ssse3"),
        SSE4_1 => return is_x86_feature_detected!("sse4.1"),
        SSE4_2 => return is_x86_feature_detected!("sse4.2"),
        _ => {}
    }
    matches!(
        feature,
        INTEL8086
            | INTEL186
            | INTEL286
            | INTEL386
            | INTEL486
            | X64
            | CMOV
            | CX8
            | CMPXCHG16B
            | FXSR
            | SSE
            | SSE2
            | MULTIBYTENOP
            | PAUSE
            | CET_IBT
            | CLFSH
            | SYSCALL
            | FPU
            | FPU287
            | FPU387
    )
}

fn touches_mmx(kind: OpCodeOperandKind) -> bool {
    use OpCodeOperandKind::*;
    matches!(kind, mm_or_mem | mm_reg | mm_rm)
}

/// Forms of the baseline that are not fuzzed, with the reason.
fn left_out(code: Code) -> Option<&'static str> {
    use OpCodeOperandKind as Kind;
    let opcode = code.op_code();
    if opcode.op_kinds().iter().any(|kind| in_segment(*kind)) {
        return Some("reads or loads a segment register, which user programs do not");
    }
    if opcode.op_kinds().iter().any(|kind| matches!(kind, Kind::cr_reg | Kind::dr_reg | Kind::tr_reg)) {
        return Some("is privileged, and its operand kind has no meaning in user mode");
    }
    if opcode.is_reserved_nop() {
        return Some("is reserved, and has other meanings on newer processors");
    }
    use Mnemonic::*;
    match code.mnemonic() {
        Enter if code == Code::Enterw_imm16_imm8 => Some("makes a 16-bit frame, which no compiler does"),
        Lss | Lfs | Lgs | Lar | Lsl | Verr | Verw | Sgdt | Sidt | Sldt | Smsw | Str => {
            Some("is about descriptor tables, which user programs do not see")
        }
        Lgdt | Lidt | Lldt | Lmsw | Ltr | Invlpg | Swapgs | Invd | Wbinvd | Clts => {
            Some("is privileged, and found in kernels only")
        }
        Retf | Iret | Iretd | Iretq => Some("transfers to another segment"),
        Call | Jmp if opcode.op0_kind() == Kind::mem => Some("transfers to another segment"),
        Sysexit | Sysexitq | Sysret | Sysretq | Sysenter => Some("belongs to kernels"),
        Int1 => Some("raises a debug exception, which a debugger would own"),
        Fstpnce => Some("is not documented"),
        Wait => Some("waits for exceptions, which are raised at once here"),
        Fclex | Finit | Fsave | Fstcw | Fstenv | Fstsw => Some("is two instructions: wait, and another one"),
        Fneni | Fndisi | Feni | Fdisi | Fnsetpm | Fsetpm | Frstpm | Fstdw | Fstsg | Fnstdw | Fnstsg => {
            Some("belongs to the first x87 units")
        }
        _ if matches!(opcode.memory_size(), MemorySize::FpuEnv14 | MemorySize::FpuState94) => {
            Some("has the layout of 16-bit code")
        }
        Clflush => Some("reports protection faults differently under hypervisors"),
        Ud0 | Ud1 => Some("differs among processors in whether the operand is read before the fault"),
        _ => None,
    }
}

fn in_segment(kind: OpCodeOperandKind) -> bool {
    use OpCodeOperandKind::*;
    matches!(kind, seg_reg | es | cs | ss | ds | fs | gs)
}

fn group(code: Code) -> Result<&'static str, &'static str> {
    use Mnemonic::*;
    Ok(match code.mnemonic() {
        Add | Adc | Sub | Sbb | And | Or | Xor | Cmp | Test | Inc | Dec | Neg | Not => "alu",
        Mul | Imul | Div | Idiv => "mul-div",
        Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd => "shift-rotate",
        Bt | Bts | Btr | Btc | Bsf | Bsr | Tzcnt | Lzcnt | Popcnt | Bswap => "bit-test-scan",
        Mov | Movzx | Movsx | Movsxd | Lea | Cbw | Cwde | Cdqe | Cwd | Cdq | Cqo | Xlatb | Movnti => {
            "data-movement"
        }
        Cmova | Cmovae | Cmovb | Cmovbe | Cmove | Cmovg | Cmovge | Cmovl | Cmovle | Cmovne | Cmovno
        | Cmovnp | Cmovns | Cmovo | Cmovp | Cmovs | Seta | Setae | Setb | Setbe | Sete | Setg | Setge
        | Setl | Setle | Setne | Setno | Setnp | Setns | Seto | Setp | Sets => "conditional",
        Push | Pop | Enter | Leave => "stack",
        Pushf | Pushfq | Popf | Popfq | Lahf | Sahf | Clc | Stc | Cmc | Cld | Std => "flags",
        Xchg | Xadd | Cmpxchg | Cmpxchg8b | Cmpxchg16b => "exchange-atomic",
        Movsb | Movsw | Movsq | Stosb | Stosw | Stosd | Stosq | Lodsb | Lodsw | Lodsd | Lodsq | Scasb
        | Scasw | Scasd | Scasq | Cmpsb | Cmpsw | Cmpsq => "string",
        // Each of these names is shared by a string instruction and a float one.
        Movsd if code == Code::Movsd_m32_m32 => "string",
        Cmpsd if code == Code::Cmpsd_m32_m32 => "string",
        Jo | Jno | Jb | Jae | Je | Jne | Jbe | Ja | Js | Jns | Jp | Jnp | Jl | Jge | Jle | Jg | Jmp
        | Call | Ret | Loop | Loope | Loopne | Jecxz | Jrcxz => "control-flow",
        Syscall => "system-call",
        Ud2 | Int3 | Int | Hlt | Cli | Sti | In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd => "trap",
        Nop | Pause | Endbr32 | Endbr64 | Lfence | Mfence | Sfence | Prefetchnta | Prefetcht0
        | Prefetcht1 | Prefetcht2 => "nop-fence",
        Movaps | Movapd | Movups | Movupd | Movdqa | Movdqu | Movd | Movq | Movss | Movsd | Movhps
        | Movhpd | Movlps | Movlpd | Movhlps | Movlhps | Movntdq | Movntps | Movntpd | Movmskps
        | Movmskpd | Pmovmskb | Maskmovdqu | Pextrw | Pinsrw => "sse-move",
        Shufps | Shufpd | Pshufd | Pshufhw | Pshuflw | Unpckhps | Unpckhpd | Unpcklps | Unpcklpd
        | Punpckhbw | Punpckhwd | Punpckhdq | Punpckhqdq | Punpcklbw | Punpcklwd | Punpckldq | Punpcklqdq
        | Packssdw | Packsswb | Packuswb | Pslldq | Psrldq => "sse-shuffle",
        Andps | Andpd | Andnps | Andnpd | Orps | Orpd | Xorps | Xorpd | Pand | Pandn | Por | Pxor => {
            "sse-logic"
        }
        Addss | Addsd | Subss | Subsd | Mulss | Mulsd | Divss | Divsd | Sqrtss | Sqrtsd | Minss | Minsd
        | Maxss | Maxsd => "sse-float-scalar",
        Addps | Addpd | Subps | Subpd | Mulps | Mulpd | Divps | Divpd | Sqrtps | Sqrtpd | Minps | Minpd
        | Maxps | Maxpd => "sse-float-packed",
        Cmpps | Cmppd | Cmpss | Cmpsd | Comiss | Comisd | Ucomiss | Ucomisd => "sse-compare",
        Cvtdq2pd | Cvtdq2ps | Cvtpd2dq | Cvtpd2ps | Cvtps2dq | Cvtps2pd | Cvtsd2si | Cvtsd2ss | Cvtsi2sd
        | Cvtsi2ss | Cvtss2sd | Cvtss2si | Cvttpd2dq | Cvttps2dq | Cvttsd2si | Cvttss2si => "sse-convert",
        Rcpps | Rcpss | Rsqrtps | Rsqrtss => "sse-approximate",
        Paddb | Paddw | Paddd | Paddq | Paddsb | Paddsw | Paddusb | Paddusw | Psubb | Psubw | Psubd
        | Psubq | Psubsb | Psubsw | Psubusb | Psubusw | Pavgb | Pavgw | Pcmpeqb | Pcmpeqw | Pcmpeqd
        | Pcmpgtb | Pcmpgtw | Pcmpgtd | Pmaddwd | Pmaxsw | Pmaxub | Pminsw | Pminub | Pmulhuw | Pmulhw
        | Pmullw | Pmuludq | Psadbw | Psllw | Pslld | Psllq | Psraw | Psrad | Psrlw | Psrld | Psrlq => {
            "sse2-integer"
        }
        Addsubps | Addsubpd | Haddps | Haddpd | Hsubps | Hsubpd | Lddqu | Movddup | Movshdup | Movsldup => {
            "sse3"
        }
        Pshufb | Phaddw | Phaddd | Phaddsw | Phsubw | Phsubd | Phsubsw | Pmaddubsw | Pmulhrsw | Psignb
        | Psignw | Psignd | Pabsb | Pabsw | Pabsd | Palignr => "ssse3",
        Pextrb | Pextrd | Pextrq | Pinsrb | Pinsrd | Pinsrq | Extractps | Insertps | Movntdqa | Pmovsxbw
        | Pmovsxbd | Pmovsxbq | Pmovsxwd | Pmovsxwq | Pmovsxdq | Pmovzxbw | Pmovzxbd | Pmovzxbq
        | Pmovzxwd | Pmovzxwq | Pmovzxdq | Pblendw | Blendps | Blendpd | Pblendvb | Blendvps | Blendvpd => {
            "sse4-move"
        }
        Pcmpeqq | Pcmpgtq | Pminsb | Pminsd | Pminuw | Pminud | Pmaxsb | Pmaxsd | Pmaxuw | Pmaxud
        | Pmulld | Pmuldq | Packusdw | Mpsadbw | Phminposuw | Ptest | Crc32 => "sse4-integer",
        Roundss | Roundsd | Roundps | Roundpd | Dpps | Dppd => "sse4-float",
        Pcmpistri | Pcmpistrm | Pcmpestri | Pcmpestri64 | Pcmpestrm | Pcmpestrm64 => "sse4-string",
        Ldmxcsr | Stmxcsr => "mxcsr",
        Fxsave | Fxsave64 | Fxrstor | Fxrstor64 => "fxsave",
        Fld | Fild | Fbld | Fst | Fstp | Fist | Fistp | Fisttp | Fbstp | Fxch | Fcmovb | Fcmove | Fcmovbe
        | Fcmovu | Fcmovnb | Fcmovne | Fcmovnbe | Fcmovnu | Fld1 | Fldl2t | Fldl2e | Fldpi | Fldlg2
        | Fldln2 | Fldz => "x87-transfer",
        Fadd | Fiadd | Faddp | Fsub | Fisub | Fsubp | Fsubr | Fisubr | Fsubrp | Fmul | Fimul | Fmulp
        | Fdiv | Fidiv | Fdivp | Fdivr | Fidivr | Fdivrp | Fchs | Fabs | Fsqrt | Frndint | Fxtract
        | Fscale | Fprem | Fprem1 => "x87-arithmetic",
        Fcom | Ficom | Fcomp | Ficomp | Fcompp | Fucom | Fucomp | Fucompp | Fcomi | Fcomip | Fucomi
        | Fucomip | Ftst | Fxam => "x87-compare",
        Fnop | Fincstp | Fdecstp | Ffree | Ffreep | Fnclex | Fldcw | Fnstcw | Fnstsw | Fninit | Fnstenv
        | Fldenv | Fnsave | Frstor => "x87-control",
        F2xm1 | Fsin | Fcos | Fsincos | Fptan | Fpatan | Fyl2x | Fyl2xp1 => "x87-transcendental",
        _ => return Err("has no group"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_baseline_form_has_a_group_or_a_reason() {
        let forgotten: Vec<_> = Code::values().filter(|&code| place(code) == Err("has no group")).collect();
        assert!(forgotten.is_empty(), "{forgotten:?}");
    }

    #[test]
    fn every_group_has_forms() {
        let total: usize = GROUPS
            .iter()
            .map(|group| {
                let count = forms(group).len();
                assert!(count > 0, "{group} is empty");
                count
            })
            .sum();
        assert!(total > 700, "only {total} forms");
    }
}
