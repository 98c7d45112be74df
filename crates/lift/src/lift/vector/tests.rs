//! Lifted instructions as text. That each function is the right one is tested where functions can be
//! computed, against the processor.

use crate::{Decoded, Op, decode};
use iced_x86::{CpuidFeature, Instruction, OpKind};

fn decoded(bytes: &[u8]) -> Option<Instruction> {
    match decode(bytes, 0) {
        Decoded::Instruction(instruction) => Some(instruction),
        Decoded::Truncated | Decoded::Invalid => None,
    }
}

fn lifted(instruction: &Instruction) -> Vec<Op> {
    let mut ops = Vec::new();
    crate::lift(instruction, &mut ops);
    ops
}

fn ops_of(hex: &str) -> Vec<String> {
    let bytes: Vec<u8> =
        hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect();
    let instruction = decoded(&bytes).expect("an instruction");
    lifted(&instruction).iter().map(Op::to_string).collect()
}

#[track_caller]
fn check(cases: &[(&str, &[&str])]) {
    for (hex, ops) in cases {
        assert_eq!(ops_of(hex), *ops, "{hex}");
    }
}

#[test]
fn moves_are_ordinary_ops_on_slots() {
    check(&[
        // movaps xmm1,xmm2
        ("0f 28 ca", &["xmm1 = xmm2", "xmm1h = xmm2h"]),
        // movaps xmm9,XMMWORD PTR [rdi+rcx*4+0x8]
        ("44 0f 28 4c 8f 08", &["xmm9 = load.128 aligned [rdi + rcx*4 + 0x8]"]),
        // movdqa XMMWORD PTR [rdi],xmm1
        ("66 0f 7f 0f", &["store.128 aligned [rdi], xmm1"]),
        // movups xmm1,XMMWORD PTR [rdi]
        ("0f 10 0f", &["xmm1 = load.128 [rdi]"]),
        // movdqu XMMWORD PTR [rdi],xmm12
        ("f3 44 0f 7f 27", &["store.128 [rdi], xmm12"]),
        // movntdq XMMWORD PTR [rdi],xmm1
        ("66 0f e7 0f", &["store.128 aligned [rdi], xmm1"]),
        // movss xmm1,xmm2
        ("f3 0f 10 ca", &["xmm1[0] = insert.32 xmm2"]),
        // movss xmm1,DWORD PTR [rdi]
        ("f3 0f 10 0f", &["xmm1 = load.32 [rdi]", "xmm1h = 0"]),
        // movss DWORD PTR [rdi],xmm1
        ("f3 0f 11 0f", &["store.32 [rdi], xmm1"]),
        // movsd xmm1,xmm2
        ("f2 0f 10 ca", &["xmm1 = xmm2"]),
        // movsd xmm1,QWORD PTR [rdi]
        ("f2 0f 10 0f", &["xmm1 = load.64 [rdi]", "xmm1h = 0"]),
        // movsd QWORD PTR [rdi],xmm1
        ("f2 0f 11 0f", &["store.64 [rdi], xmm1"]),
        // movd xmm1,eax
        ("66 0f 6e c8", &["xmm1 = zx.32 rax", "xmm1h = 0"]),
        // movd eax,xmm1
        ("66 0f 7e c8", &["rax = zx.32 xmm1"]),
        // movd xmm1,DWORD PTR [rdi]
        ("66 0f 6e 0f", &["xmm1 = load.32 [rdi]", "xmm1h = 0"]),
        // movq xmm1,rax
        ("66 48 0f 6e c8", &["xmm1 = rax", "xmm1h = 0"]),
        // movq rax,xmm1
        ("66 48 0f 7e c8", &["rax = xmm1"]),
        // movq xmm1,xmm2
        ("f3 0f 7e ca", &["xmm1 = xmm2", "xmm1h = 0"]),
        // movq QWORD PTR [rdi],xmm1
        ("66 0f d6 0f", &["store.64 [rdi], xmm1"]),
        // movlps xmm1,QWORD PTR [rdi]
        ("0f 12 0f", &["xmm1 = load.64 [rdi]"]),
        // movhpd xmm1,QWORD PTR [rdi]
        ("66 0f 16 0f", &["xmm1h = load.64 [rdi]"]),
        // movhps QWORD PTR [rdi],xmm1
        ("0f 17 0f", &["store.64 [rdi], xmm1h"]),
        // movhlps xmm1,xmm2
        ("0f 12 ca", &["xmm1 = xmm2h"]),
        // movlhps xmm1,xmm2
        ("0f 16 ca", &["xmm1h = xmm2"]),
        // pextrw eax,xmm1,0x6
        ("66 0f c5 c1 06", &["rax = extract.16 xmm1h[4]"]),
        // pinsrw xmm1,eax,0x3
        ("66 0f c4 c8 03", &["xmm1[6] = insert.16 rax"]),
        // pinsrw xmm1,WORD PTR [rdi],0x5
        ("66 0f c4 0f 05", &["t0 = load.16 [rdi]", "xmm1h[2] = insert.16 t0"]),
        // maskmovdqu xmm1,xmm2
        (
            "66 0f f7 ca",
            &[
                "xt0 = load.128 [rdi]",
                "xt1 = 0",
                "xt1h = 0",
                "xt1 = greatersigned.8x16 xt1, xmm2",
                "xt0 = andnot.128 xt1, xt0",
                "xt1 = and.128 xt1, xmm1",
                "xt0 = or.128 xt0, xt1",
                "store.128 [rdi], xt0",
            ],
        ),
    ]);
}

#[test]
fn later_moves_are_ordinary_ops_too() {
    check(&[
        // lddqu xmm1,[rdi]
        ("f2 0f f0 0f", &["xmm1 = load.128 [rdi]"]),
        // movddup xmm1,[rdi]
        ("f2 0f 12 0f", &["t0 = load.64 [rdi]", "xmm1 = t0", "xmm1h = t0"]),
        // movshdup xmm1,xmm2
        ("f3 0f 16 ca", &["xmm1 = shuffle dwords xmm2, 0xf5"]),
        // pextrw WORD PTR [rdi],xmm1,0x1
        ("66 0f 3a 15 0f 01", &["t0 = extract.16 xmm1[2]", "store.16 [rdi], t0"]),
        // pinsrq xmm1,rax,0x1
        ("66 48 0f 3a 22 c8 01", &["xmm1h[0] = insert.64 rax"]),
        // insertps xmm1,xmm2,0x91
        (
            "66 0f 3a 21 ca 91",
            &["t0 = extract.32 xmm2h[0]", "xmm1[4] = insert.32 t0", "xmm1[0] = insert.32 0"],
        ),
        // blendvps xmm1,xmm2
        (
            "66 0f 38 14 ca",
            &[
                "xt0 = shiftrightsigned.32x4 xmm0, 0x1f",
                "xt1 = and.128 xt0, xmm2",
                "xt0 = andnot.128 xt0, xmm1",
                "xmm1 = or.128 xt0, xt1",
            ],
        ),
        // pcmpestri xmm1,[rdi],0xc
        (
            "66 0f 3a 61 0f 0c",
            &[
                "xt0 = load.128 [rdi]",
                "t0 = sx.32.64 rax",
                "t1 = sx.32.64 rdx",
                "t2 = comparestrings flags xmm1, xt0 of t0, t1, 0xc",
                "rcx = comparestrings index xmm1, xt0 of t0, t1, 0xc",
                "flags = load.64 t2, 0, zero",
            ],
        ),
        // ptest xmm1,xmm2
        ("66 0f 38 17 ca", &["t0 = testbits xmm1, xmm2", "flags = compare.64 t0, 0, zero"]),
        // crc32 eax,cl
        ("f2 0f 38 f0 c1", &["rax = checksum.8 rax, rcx"]),
    ]);
}

#[test]
fn functions_of_a_register_with_itself_that_are_constant_read_nothing() {
    check(&[
        // pxor xmm3,xmm3
        ("66 0f ef db", &["xmm3 = 0", "xmm3h = 0"]),
        // pcmpeqd xmm3,xmm3
        ("66 0f 76 db", &["xmm3 = 0xffffffffffffffff", "xmm3h = 0xffffffffffffffff"]),
        // psubd xmm3,xmm3
        ("66 0f fa db", &["xmm3 = 0", "xmm3h = 0"]),
        // pxor xmm3,xmm4
        ("66 0f ef dc", &["xmm3 = xor.128 xmm3, xmm4"]),
    ]);
}

#[test]
fn whole_memory_operands_are_aligned_and_partial_ones_go_through_one_slot() {
    check(&[
        // addps xmm1,XMMWORD PTR [rdi]
        ("0f 58 0f", &["xt0 = load.128 aligned [rdi]", "xmm1 = add.f32x4 xmm1, xt0"]),
        // addss xmm1,DWORD PTR [rdi]
        ("f3 0f 58 0f", &["t0 = load.32 [rdi]", "xmm1 = add.f32 xmm1, t0"]),
        // sqrtsd xmm1,QWORD PTR [rdi]
        ("f2 0f 51 0f", &["t0 = load.64 [rdi]", "xmm1 = sqrt.f64 t0"]),
        // sqrtss xmm1,xmm2
        ("f3 0f 51 ca", &["xmm1 = sqrt.f32 xmm1, xmm2"]),
        // cvtsi2sd xmm1,QWORD PTR [rdi]
        ("f2 48 0f 2a 0f", &["t0 = load.64 [rdi]", "xmm1 = convert i64.f64 t0"]),
        // cvtsi2ss xmm1,eax
        ("f3 0f 2a c8", &["xmm1 = convert i32.f32 xmm1, rax"]),
        // cvttsd2si rax,QWORD PTR [rdi]
        ("f2 48 0f 2c 07", &["t0 = load.64 [rdi]", "rax = truncate f64.i64 t0"]),
        // cvtps2pd xmm1,QWORD PTR [rdi]
        ("0f 5a 0f", &["t0 = load.64 [rdi]", "xmm1 = convert f32.f64x2 t0"]),
        // psllw xmm1,XMMWORD PTR [rdi]
        ("66 0f f1 0f", &["xt0 = load.128 aligned [rdi]", "xmm1 = shiftleft.16x8 xmm1, xt0"]),
        // psllw xmm1,0x3
        ("66 0f 71 f1 03", &["xmm1 = shiftleft.16x8 xmm1, 3"]),
        // psrldq xmm1,0x3
        ("66 0f 73 d9 03", &["xmm1 = shiftbytesright xmm1, 3"]),
        // pshufd xmm1,xmm2,0x1b
        ("66 0f 70 ca 1b", &["xmm1 = shuffle dwords xmm2, 0x1b"]),
        // shufps xmm1,XMMWORD PTR [rdi],0x4e
        ("0f c6 0f 4e", &["xt0 = load.128 aligned [rdi]", "xmm1 = shuffle pairsofdwords xmm1, xt0, 0x4e"]),
        // ucomisd xmm1,QWORD PTR [rdi]
        (
            "66 0f 2e 0f",
            &["t1 = load.64 [rdi]", "t0 = compare.f64 xmm1, t1", "flags = compare.64 t0, 0, zero"],
        ),
        // comiss xmm1,xmm2
        ("0f 2f ca", &["t0 = compare signalling.f32 xmm1, xmm2", "flags = compare.64 t0, 0, zero"]),
        // cmpltsd xmm1,xmm2
        ("f2 0f c2 ca 01", &["xmm1 = compare less.f64 xmm1, xmm2"]),
        // pmovmskb eax,xmm1
        ("66 0f d7 c1", &["rax = signmask.8x16 xmm1"]),
    ]);
}

#[test]
fn mmx_and_later_extensions_are_unsupported() {
    for hex in [
        // paddb mm1,mm2
        "0f fc ca",
        // movq mm1,QWORD PTR [rdi]
        "0f 6f 0f",
        // pshufb mm1,mm2
        "0f 38 00 ca",
        // aesenc xmm1,xmm2
        "66 0f 38 dc ca",
        // vaddps xmm1,xmm2,xmm3
        "c5 e8 58 cb",
        // cvtpi2ps xmm1,QWORD PTR [rdi]
        "0f 2a 0f",
        // movdq2q mm1,xmm1
        "f2 0f d6 c9",
    ] {
        assert_eq!(ops_of(hex), ["unsupported"], "{hex}");
    }
}

#[test]
fn every_instruction_up_to_sse4_2_without_mmx_operands_is_lifted() {
    let mut count = 0;
    let maps = [&[0x0f][..], &[0x0f, 0x38], &[0x0f, 0x3a]];
    for (prefix, map) in [&[][..], &[0x66], &[0xf3], &[0xf2]].into_iter().flat_map(|p| maps.map(|m| (p, m))) {
        for rex in [&[][..], &[0x48], &[0x44]] {
            for opcode in 0..=255 {
                // Any two registers, or memory.
                for operands in (0xc0..=0xff).chain(0x07..=0x07).chain(0x0f..=0x0f) {
                    let bytes = [prefix, rex, map, &[opcode, operands, 2, 0, 0, 0, 0]].concat();
                    let Some(instruction) = decoded(&bytes).filter(is_sse) else { continue };
                    let ops = lifted(&instruction);
                    assert!(!ops.contains(&Op::Unsupported), "{instruction:?}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 30_000, "only {count} instructions were found");
}

/// Of SSE to SSE4.2, and without MMX: neither registers nor the 8 bytes of memory in their place.
fn is_sse(instruction: &Instruction) -> bool {
    let features = instruction.cpuid_features();
    use CpuidFeature::{FPU, SSE, SSE2, SSE3, SSE4_1, SSE4_2, SSSE3};
    let all = [SSE, SSE2, SSE3, SSSE3, SSE4_1, SSE4_2];
    // fisttp came with SSE3, but belongs to the x87 unit.
    let sse = all.iter().any(|sse| features.contains(sse)) && !features.contains(&FPU);
    let mmx = (0..instruction.op_count())
        .any(|n| instruction.op_kind(n) == OpKind::Register && instruction.op_register(n).is_mm());
    let name = format!("{:?}", instruction.mnemonic());
    sse && !mmx && !name.starts_with("Cvtpi2")
}
