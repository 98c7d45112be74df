mod encoding;
mod processor;
mod values;

use super::{FloatException, execute, plain_function_for};
use encoding::encoding;
use lift::flags::{CF, PF, ZF};
use lift::vector::{Approximation, Conversion, VectorOperand, VectorResult};
use lift::{Op, Reg, VectorOp};
use processor::{Observed, Processor, with_processor};
use values::{DOUBLES, Random, SINGLES};

const ALL_MASKED: u32 = 0x1f80;
/// Denormals are zero, flush to zero, and both rounding bits.
const MODES: [u32; 4] = [1 << 6, 1 << 15, 1 << 13, 1 << 14];

/// The sixteen combinations of rounding and of how denormals are treated.
fn modes() -> impl Iterator<Item = u32> {
    (0..16_u32).map(|n| MODES.iter().enumerate().map(|(bit, mode)| (n >> bit & 1) * mode).sum())
}

/// The result as the op defines it, out of what the instruction left.
fn expected(op: VectorOp, observed: &Observed) -> u128 {
    match op.result() {
        VectorResult::Vector => observed.xmm0,
        VectorResult::Flags => u128::from(observed.rflags & (CF | PF | ZF)),
        VectorResult::Slot(_) if to_general(op) => u128::from(observed.rax),
        VectorResult::Slot(_) => observed.xmm0 as u64 as u128,
    }
}

fn to_general(op: VectorOp) -> bool {
    matches!(
        op,
        VectorOp::SignMask(_) | VectorOp::Checksum(_) | VectorOp::Convert(Conversion::ScalarToInteger { .. })
    )
}

fn check(processor: &Processor, op: VectorOp, (a, b, imm): (u128, u128, u8), mxcsr: u32) {
    let observed = processor.execute(a, b, mxcsr);
    let mut ours = mxcsr;
    let result = execute(op, a, b, imm, &mut ours);
    let plain = plain_function_for(op).call(a, b, imm, &mut { mxcsr });
    assert_eq!(plain, result, "{op:?} of {a:#034x} and {b:#034x}, imm {imm:#x}, plain and native");
    let wanted = if observed.exception { Err(FloatException) } else { Ok(expected(op, &observed)) };
    assert!(
        result == wanted && ours == observed.mxcsr,
        "{op:?} of {a:#034x} and {b:#034x}, imm {imm:#x}, mxcsr {mxcsr:#x}:\n\
         {result:x?}, mxcsr {ours:#x}, but the processor {wanted:x?}, mxcsr {:#x}",
        observed.mxcsr,
    );
}

#[test]
fn integer_functions_agree_with_the_processor() {
    with_processor(|processor| {
        let mut random = Random::new(1);
        let ops = VectorOp::all().into_iter().filter(|op| !op.uses_mxcsr());
        for op in ops.filter(|op| !matches!(op, VectorOp::Approximate { .. })) {
            for imm in if op.reads_immediate() { 0..=255 } else { 0..=0 } {
                let Some(code) = encoding(op, imm) else { continue };
                processor.load(&code);
                for _ in 0..if op.reads_immediate() { 100 } else { 10_000 } {
                    check(processor, op, (random.integers(), random.integers(), imm), ALL_MASKED);
                }
            }
        }
    });
}

#[test]
fn shift_counts_of_any_size_agree_with_the_processor() {
    with_processor(|processor| {
        let mut random = Random::new(2);
        for op in VectorOp::all() {
            let VectorOp::Shift(_, _, lift::vector::ShiftCount::Slot) = op else { continue };
            let Some(code) = encoding(op, 0) else { continue };
            processor.load(&code);
            for count in (0..300).chain([1 << 32, u64::MAX, 1 << 63]) {
                let above = u128::from(random.next()) << 64;
                check(processor, op, (random.integers(), above | u128::from(count), 0), ALL_MASKED);
            }
        }
    });
}

fn float_ops() -> impl Iterator<Item = VectorOp> {
    VectorOp::all().into_iter().filter(|op| op.uses_mxcsr())
}

#[test]
fn float_functions_agree_with_the_processor_on_corner_values_in_every_mode() {
    with_processor(|processor| {
        for op in float_ops() {
            processor.load(&encoding(op, 0).expect("every float function is an instruction"));
            for mode in modes() {
                // Each vector holds a pair of corner values twice over, in different order.
                for (n, &x) in SINGLES.iter().enumerate() {
                    for (m, &y) in SINGLES.iter().enumerate() {
                        let z = SINGLES[(n + m) % SINGLES.len()];
                        let pack = |w: [u32; 4]| w.into_iter().rev().fold(0, |v, x| v << 32 | u128::from(x));
                        let (a, b) = (pack([x, y, z, x]), pack([y, x, x, z]));
                        check(processor, op, (a, b, 0), ALL_MASKED | mode);
                    }
                }
                for (n, &x) in DOUBLES.iter().enumerate() {
                    for (m, &y) in DOUBLES.iter().enumerate() {
                        let z = DOUBLES[(n + m) % DOUBLES.len()];
                        let pack = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
                        check(processor, op, (pack(x, z), pack(y, x), 0), ALL_MASKED | mode);
                    }
                }
            }
        }
    });
}

#[test]
fn float_functions_agree_with_the_processor_on_random_values_and_flags() {
    with_processor(|processor| {
        let mut random = Random::new(3);
        for op in float_ops() {
            processor.load(&encoding(op, 0).expect("every float function is an instruction"));
            for _ in 0..10_000 {
                let (a, b) = (random.floats(), random.floats());
                // The default mode half of the time, for it is treated apart.
                let mode = if random.below(2) == 0 { 0 } else { random.next() as u32 & 0xe040 };
                check(processor, op, (a, b, 0), ALL_MASKED | mode | random.next() as u32 & 0x3f);
            }
            for _ in 0..1_000 {
                let (a, b) = (random.integers(), random.integers());
                check(processor, op, (a, b, 0), ALL_MASKED | random.next() as u32 & 0xe07f);
            }
        }
    });
}

#[test]
fn unmasked_float_exceptions_are_raised_as_by_the_processor() {
    with_processor(|processor| {
        let mut random = Random::new(4);
        for op in float_ops() {
            processor.load(&encoding(op, 0).expect("every float function is an instruction"));
            for _ in 0..4_000 {
                check(processor, op, (random.floats(), random.floats(), 0), random.next() as u32 & 0xffff);
            }
        }
    });
}

#[test]
fn an_exact_denormal_is_an_underflow_only_where_that_is_unmasked() {
    let op = VectorOp::Float {
        function: lift::vector::FloatFunction::Mul,
        width: lift::vector::FloatWidth::F64,
        packed: false,
    };
    let (least, half) = (u128::from(f64::MIN_POSITIVE.to_bits()), u128::from(0.5_f64.to_bits()));
    let mut mxcsr = ALL_MASKED;
    assert_eq!(execute(op, least, half, 0, &mut mxcsr), Ok(least >> 1));
    assert_eq!(mxcsr, ALL_MASKED);
    let unmasked = ALL_MASKED & !(1 << 11);
    mxcsr = unmasked;
    assert_eq!(execute(op, least, half, 0, &mut mxcsr), Err(FloatException));
    assert_eq!(mxcsr, unmasked | 1 << 4);
}

#[test]
fn approximations_are_within_the_bound_and_special_values_are_the_processors() {
    const BOUND: f64 = 1.5 / 4096.0;
    with_processor(|processor| {
        let mut random = Random::new(5);
        for function in [Approximation::Reciprocal, Approximation::ReciprocalSqrt] {
            let op = VectorOp::Approximate { function, packed: false };
            processor.load(&encoding(op, 0).expect("both are instructions"));
            let randoms = (0..200_000).map(|_| random.next() as u32);
            for x in SINGLES.iter().copied().chain(randoms) {
                // Where the architecture leaves open whether the result is too small.
                if (0x7e7f_e800..0x7e80_0c01).contains(&(x & !(1 << 31))) {
                    continue;
                }
                let ours = execute(op, 0, x.into(), 0, &mut 0).expect("no exceptions") as u32;
                let theirs = processor.execute(0, x.into(), ALL_MASKED).xmm0 as u32;
                let value = f64::from(f32::from_bits(x));
                let truth = match function {
                    Approximation::Reciprocal => 1.0 / value,
                    Approximation::ReciprocalSqrt => 1.0 / value.sqrt(),
                };
                let error = (f64::from(f32::from_bits(ours)) / truth - 1.0).abs();
                let normal = f32::from_bits(theirs).is_normal() && f32::from_bits(ours).is_normal();
                assert!(
                    if normal { error <= BOUND } else { ours == theirs },
                    "{function:?} of {x:#x}: {ours:#x}, the processor {theirs:#x}"
                );
            }
        }
    });
}

#[test]
fn packed_approximations_are_the_scalar_ones_in_each_lane() {
    let mut random = Random::new(6);
    for function in [Approximation::Reciprocal, Approximation::ReciprocalSqrt] {
        for _ in 0..1_000 {
            let (a, b) = (random.floats(), random.floats());
            let lane = |n: u32| {
                let scalar = VectorOp::Approximate { function, packed: false };
                execute(scalar, a, b >> (32 * n), 0, &mut 0).expect("no exceptions")
            };
            assert_eq!(lane(0) >> 32, a as u64 as u128 >> 32, "the rest of the slot is kept");
            let packed = execute(VectorOp::Approximate { function, packed: true }, a, b, 0, &mut 0);
            let wanted = (0..4).fold(0, |v, n| v | u128::from(lane(n) as u32) << (32 * n));
            assert_eq!(packed, Ok(wanted));
        }
    }
}

#[test]
fn only_the_bytes_that_an_op_names_are_read_and_written() {
    let mut random = Random::new(7);
    for op in VectorOp::all() {
        let keep = |value: u128, operand| match operand {
            VectorOperand::None => 0,
            VectorOperand::Slot(size) => value & u128::from(size.mask()),
            VectorOperand::Vector => value,
        };
        for _ in 0..200 {
            let (a, b, imm) = (random.floats(), random.floats(), random.next() as u8);
            let result = execute(op, a, b, imm, &mut { ALL_MASKED }).expect("masked");
            let least = execute(op, keep(a, op.a()), keep(b, op.b()), imm, &mut { ALL_MASKED });
            assert_eq!(least, Ok(result), "{op:?}");
            let limit = match op.result() {
                VectorResult::Vector => u128::MAX,
                VectorResult::Slot(size) => size.mask().into(),
                VectorResult::Flags => u128::from(CF | PF | ZF),
            };
            assert_eq!(result & !limit, 0, "{op:?}");
            if !op.reads_immediate() {
                let other = execute(op, a, b, random.next() as u8, &mut { ALL_MASKED });
                assert_eq!(other, Ok(result), "{op:?}");
            }
        }
    }
}

#[test]
fn result_bytes_depend_on_no_other_operand_bytes_than_the_table_says() {
    let mut random = Random::new(8);
    for op in VectorOp::all() {
        for _ in 0..100 {
            let (a, b) = (random.floats(), random.floats());
            let imm = if random.below(2) == 0 { random.below(20) } else { random.next() } as u8;
            let result = execute(op, a, b, imm, &mut { ALL_MASKED }).expect("masked").to_le_bytes();
            for byte in 0..16 {
                let dependence = op.dependence(imm, byte);
                let a = a & bytes(dependence.a) | random.floats() & !bytes(dependence.a);
                let b = b & bytes(dependence.b) | random.floats() & !bytes(dependence.b);
                let other = execute(op, a, b, imm, &mut { ALL_MASKED }).expect("masked").to_le_bytes();
                assert_eq!(other[byte as usize], result[byte as usize], "{op:?}, imm {imm}, byte {byte}");
            }
        }
    }
}

/// All ones in the bytes of the mask.
fn bytes(mask: u16) -> u128 {
    (0..16).filter(|n| mask >> n & 1 == 1).fold(0, |v, n| v | 0xff << (8 * n))
}

#[test]
fn a_byte_that_was_only_moved_depends_on_where_it_came_from_alone() {
    let mut random = Random::new(9);
    for op in VectorOp::all() {
        let moves = matches!(
            op,
            VectorOp::Shuffle(_)
                | VectorOp::Unpack(..)
                | VectorOp::ShiftBytes(_)
                | VectorOp::Align
                | VectorOp::Blend(_)
        );
        if !moves {
            continue;
        }
        for imm in 0..=255 {
            let (a, b) = (random.integers(), random.integers());
            let result = execute(op, a, b, imm, &mut { ALL_MASKED }).expect("pure").to_le_bytes();
            for byte in 0..16 {
                let dependence = op.dependence(imm, byte);
                assert!(dependence.a.count_ones() + dependence.b.count_ones() <= 1, "{op:?}, byte {byte}");
                let source = match (dependence.a, dependence.b) {
                    (0, 0) => 0,
                    (0, b_mask) => b.to_le_bytes()[b_mask.trailing_zeros() as usize],
                    (a_mask, _) => a.to_le_bytes()[a_mask.trailing_zeros() as usize],
                };
                assert_eq!(result[byte as usize], source, "{op:?}, imm {imm}, byte {byte}");
            }
        }
    }
}

#[test]
fn every_instruction_is_lifted_to_the_function_that_it_applies() {
    for op in VectorOp::all() {
        let imm = if op.reads_immediate() { 0x1b } else { 0 };
        let Some(code) = encoding(op, imm) else { continue };
        let lift::Decoded::Instruction(instruction) = lift::decode(&code, 0x1000) else {
            panic!("{op:?}: {code:x?} is no instruction");
        };
        let mut ops = Vec::new();
        lift::lift(&instruction, &mut ops);
        let integer_source =
            matches!(op, VectorOp::Checksum(_) | VectorOp::Convert(Conversion::IntegerToScalar { .. }));
        let source = if integer_source { Reg::RCX } else { Reg::xmm(1) };
        let first = if to_general(op) { Reg::RAX } else { Reg::xmm(0) };
        let slot = |operand, reg| if operand == VectorOperand::None { Reg::ZERO } else { reg };
        let dst = if op.result() == VectorResult::Flags { Reg::temp(0) } else { first };
        let wanted = Op::Vector { op, dst, a: slot(op.a(), first), b: slot(op.b(), source), imm };
        assert_eq!(ops.first(), Some(&wanted), "{code:x?}");
        assert_eq!(ops.len(), if op.result() == VectorResult::Flags { 2 } else { 1 });
    }
}
