//! Bundles. Their hashes would keep a fuzzer out, so most inputs are a manifest and contents around which a file is made whose
//! hashes are right; those that begin as bundles do are files as they are.

#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use fuzz::bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use machine::{Time, Unwatched};
use replay::{Bundle, is_bundle};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Sizes in the file, which has the form that crates/replay/src/bundle/format.rs describes.
const HEADER: usize = 84;
const DIGEST: usize = 32;

const MEMORY: u64 = 64 << 20;
const OUTPUT: u64 = 1 << 16;
const INSTRUCTIONS: Time = Time(2000);

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn sha256(bytes: &[u8]) -> [u8; DIGEST] {
    Sha256::digest(bytes).into()
}

/// The manifest, with a table of its contents that is right if it is JSON at all.
fn manifest(text: &[u8], contents: &[&[u8]], packed: &[Vec<u8>]) -> Vec<u8> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(text) else { return text.to_vec() };
    let table = contents.iter().zip(packed).map(|(content, packed)| {
        let digest: String = sha256(content).iter().map(|byte| format!("{byte:02x}")).collect();
        json!({ "sha256": digest, "size": content.len(), "packed_size": packed.len() })
    });
    let table = table.collect();
    if let Some(wanted) = fields.get_mut("packed") {
        *wanted = Value::Array(table);
    }
    serde_json::to_vec(&fields).unwrap_or_default()
}

fn file(text: &[u8], contents: &[&[u8]]) -> Vec<u8> {
    let packed: Vec<Vec<u8>> = contents.iter().map(|content| pack(content)).collect();
    let manifest = manifest(text, contents, &packed);
    let table = pack(&manifest);
    let total = HEADER + table.len() + packed.iter().map(Vec::len).sum::<usize>() + DIGEST;
    let mut file = b"whydunit bundle\n\x01\0\0\0".to_vec();
    for length in [total, table.len(), manifest.len()] {
        file.extend((length as u64).to_le_bytes());
    }
    file.extend(sha256(&table));
    file.extend(&sha256(&file)[..8]);
    file.extend(table);
    file.extend(packed.concat());
    file.extend(sha256(&file));
    file
}

fuzz_target!(|data: &[u8]| {
    let made = if is_bundle(data) {
        data.to_vec()
    } else {
        let mut bytes = Bytes(data);
        let text = bytes.part();
        let mut contents: Vec<&[u8]> = Vec::new();
        while !bytes.0.is_empty() {
            contents.push(bytes.part());
        }
        file(text, &contents)
    };
    let Ok(mut bundle) = Bundle::read(&made) else { return };
    let mut again = Vec::new();
    bundle.write(&mut again).unwrap();
    bundle.case.limits.memory = bundle.case.limits.memory.min(MEMORY);
    bundle.case.limits.output = bundle.case.limits.output.min(OUTPUT);
    if let Ok(mut process) = bundle.sealed_case().load() {
        process.run(INSTRUCTIONS, &mut Unwatched);
    }
});
