//! The file: a header, the manifest, the contents that it refers to, and a digest of all that. Numbers are
//! little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 16 | [`MAGIC`] |
//! | 4 | the format's version |
//! | 8 | the length of the whole file |
//! | 8, 8 | the length of the manifest in the file, and unpacked |
//! | 32 | SHA-256 of the manifest as it is in the file |
//! | 8 | the first bytes of the SHA-256 of all before |
//! | … | the manifest: JSON, packed by deflate |
//! | … | the contents in the manifest's order, each packed by deflate |
//! | 32 | SHA-256 of all before |
//!
//! Any byte that is altered alters the last digest. The other digests are there to say *what* is altered.

use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BundleError;

pub const MAGIC: &[u8; 16] = b"whydunit bundle\n";
/// Raised when an older whydunit could not read a file, or would read it wrongly.
pub const VERSION: u32 = 1;

const HEADER: usize = 16 + 4 + 3 * 8 + 32 + 8;
const CHECK: usize = 8;
const DIGEST: usize = 32;

/// A manifest has some hundred bytes a name, so this is a million of them.
const LARGEST_MANIFEST: u64 = 256 << 20;
/// No single file that a guest can read is larger.
const LARGEST_CONTENT: u64 = 1 << 30;
/// The files that a run can have read (see `linux::fs::Host`), its input, and what explains it.
const LARGEST_WORLD: u64 = 6 << 30;

/// One content in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// SHA-256 of the unpacked bytes, in hexadecimal.
    pub sha256: String,
    pub size: u64,
    pub packed_size: u64,
}

/// Contents that are about to be written, each once.
#[derive(Default)]
pub struct Packer {
    pub table: Vec<Packed>,
    packed: Vec<Vec<u8>>,
    known: std::collections::HashMap<[u8; DIGEST], usize>,
}

impl Packer {
    /// The number of a content in the table.
    pub fn add(&mut self, content: &[u8]) -> usize {
        let digest = sha256(content);
        if let Some(known) = self.known.get(&digest) {
            return *known;
        }
        let packed = pack(content);
        let number = self.table.len();
        self.table.push(Packed {
            sha256: hexadecimal(&digest),
            size: content.len() as u64,
            packed_size: packed.len() as u64,
        });
        self.packed.push(packed);
        self.known.insert(digest, number);
        number
    }

    /// Writes the whole file; `manifest` has the packer's table in it.
    pub fn write(&self, manifest: &[u8], out: &mut impl Write) -> io::Result<()> {
        if manifest.len() as u64 > LARGEST_MANIFEST || too_large(&self.table) {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "the run has read more than a bundle can hold",
            ));
        }
        let packed = pack(manifest);
        let contents: usize = self.packed.iter().map(Vec::len).sum();
        let total = HEADER + packed.len() + contents + DIGEST;
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(VERSION.to_le_bytes());
        for length in [total, packed.len(), manifest.len()] {
            header.extend((length as u64).to_le_bytes());
        }
        header.extend(sha256(&packed));
        header.extend(sha256(&header).iter().take(CHECK));
        let mut digest = Sha256::new();
        for part in [&header, &packed].into_iter().chain(&self.packed) {
            digest.update(part);
            out.write_all(part)?;
        }
        out.write_all(&digest.finalize())
    }
}

/// A file whose header is sound and whose manifest is the one that was written.
pub struct Opened<'a> {
    pub manifest: Vec<u8>,
    contents: &'a [u8],
    /// All bytes are as they were written.
    intact: bool,
}

/// Whether a file that begins with these bytes is a bundle.
pub fn is_bundle(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

pub fn open(file: &[u8]) -> Result<Opened<'_>, BundleError> {
    let length = file.len() as u64;
    let cut_short = BundleError::CutShort { at: length };
    let Some(rest) = file.strip_prefix(MAGIC) else {
        return Err(if MAGIC.starts_with(file) { cut_short } else { BundleError::NotABundle });
    };
    let mut fields = Fields(rest);
    let version = fields.u32().ok_or(cut_short.clone())?;
    if version > VERSION {
        return Err(BundleError::Newer { version });
    }
    let (Some(header), Some(after)) = (file.get(..HEADER), file.get(HEADER..)) else { return Err(cut_short) };
    let (checked, check) = header.split_at(HEADER - CHECK);
    if sha256(checked).get(..CHECK) != Some(check) || version == 0 {
        return Err(BundleError::damaged("its header does not match its hash"));
    }
    let total = fields.u64().ok_or(cut_short.clone())?;
    let packed_length = fields.u64().ok_or(cut_short.clone())?;
    let manifest_length = fields.u64().ok_or(cut_short.clone())?;
    if length < total {
        return Err(cut_short);
    }
    if length > total {
        return Err(BundleError::damaged(format!("{} bytes follow its end", length - total)));
    }
    let body = after.split_last_chunk::<DIGEST>().filter(|(body, _)| packed_length <= body.len() as u64);
    let Some((body, digest)) = body else {
        return Err(BundleError::nonsense("its parts are larger than it"));
    };
    let intact = sha256(file.get(..file.len() - DIGEST).unwrap_or_default()) == *digest;
    let (packed, contents) = body.split_at(packed_length as usize);
    if checked.get(checked.len() - DIGEST..) != Some(&sha256(packed)) {
        return Err(BundleError::damaged("its table of contents does not match its hash"));
    }
    if manifest_length > LARGEST_MANIFEST {
        return Err(BundleError::nonsense("its table of contents is larger than any that we write"));
    }
    let manifest = unpack(packed, manifest_length)
        .ok_or_else(|| BundleError::nonsense("its table of contents cannot be unpacked"))?;
    Ok(Opened { manifest, contents, intact })
}

impl Opened<'_> {
    /// Unpacks all contents. `name` tells what the content of a number is.
    pub fn unpack(
        &self,
        table: &[Packed],
        name: impl Fn(usize) -> String,
    ) -> Result<Vec<Arc<Vec<u8>>>, BundleError> {
        if too_large(table) {
            return Err(BundleError::nonsense("it holds more than any run can have read"));
        }
        let packed = table.iter().fold(0, |sum: u64, packed| sum.saturating_add(packed.packed_size));
        if packed != self.contents.len() as u64 {
            return Err(BundleError::nonsense("its table of contents does not add up"));
        }
        let mut rest = self.contents;
        let mut contents = Vec::new();
        for (number, packed) in table.iter().enumerate() {
            let damaged =
                || BundleError::damaged(format!("the content of {} does not match its hash", name(number)));
            let (bytes, after) = usize::try_from(packed.packed_size)
                .ok()
                .and_then(|size| rest.split_at_checked(size))
                .ok_or_else(damaged)?;
            let content = unpack(bytes, packed.size).ok_or_else(damaged)?;
            if hexadecimal(&sha256(&content)) != packed.sha256 {
                return Err(damaged());
            }
            contents.push(Arc::new(content));
            rest = after;
        }
        match self.intact {
            true => Ok(contents),
            false => Err(BundleError::damaged("its last hash does not match")),
        }
    }
}

fn too_large(table: &[Packed]) -> bool {
    let world = table.iter().fold(0, |sum: u64, packed| sum.saturating_add(packed.size));
    world > LARGEST_WORLD || table.iter().any(|packed| packed.size > LARGEST_CONTENT)
}

/// Takes numbers from the front of bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn u64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Memory takes all that is written to it.
    written.unwrap_or_default()
}

/// What was packed, if it has this size. Memory is taken as bytes come out, not as a number says.
fn unpack(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).take(size.checked_add(1)?).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size).then_some(bytes)
}

fn sha256(bytes: &[u8]) -> [u8; DIGEST] {
    Sha256::digest(bytes).into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
