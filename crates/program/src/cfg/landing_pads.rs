//! Where exceptions are caught: code to which no jump leads, only the unwinder, by a table beside the call frame
//! information (in the form that C++ and Rust share).

use gimli::{
    DW_EH_PE_omit, DW_EH_PE_sdata4, DW_EH_PE_udata2, DW_EH_PE_udata4, DW_EH_PE_udata8, DW_EH_PE_uleb128,
};
use gimli::{DwEhPe, EndianSlice, LittleEndian, Reader as _};

use crate::object_file::ObjectFile;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// A function has no more places than this where exceptions are caught.
const MOST_PADS: usize = 1 << 16;

/// The landing pads of the code that one entry of the call frame information covers, in the order of the table.
pub(super) fn find(object: &ObjectFile, address: u64) -> Vec<u64> {
    let mut found = Vec::new();
    if let Some((data, start)) = object.call_frames().language_data(address)
        && let Some(bytes) = object.bytes_at(data)
    {
        // What was read before the table turned out to be damaged is kept.
        let _ = read(Bytes::new(bytes, LittleEndian), start, &mut found);
    }
    found
}

fn read(mut bytes: Bytes<'_>, start: u64, found: &mut Vec<u64>) -> Option<()> {
    // Pads are relative to the start of the code unless the table says otherwise, which no compiler makes it do
    // but by an absolute address.
    let encoding = DwEhPe(bytes.read_u8().ok()?);
    let base = if encoding == DW_EH_PE_omit { start } else { number(&mut bytes, encoding)? };
    if DwEhPe(bytes.read_u8().ok()?) != DW_EH_PE_omit {
        bytes.read_uleb128().ok()?;
    }
    let encoding = DwEhPe(bytes.read_u8().ok()?);
    let length = usize::try_from(bytes.read_uleb128().ok()?).ok()?;
    let mut calls = bytes.split(length).ok()?;
    while !calls.is_empty() && found.len() < MOST_PADS {
        let (_start, _length) = (number(&mut calls, encoding)?, number(&mut calls, encoding)?);
        let pad = number(&mut calls, encoding)?;
        calls.read_uleb128().ok()?;
        if pad != 0 {
            found.push(base.wrapping_add(pad));
        }
    }
    Some(())
}

fn number(bytes: &mut Bytes<'_>, encoding: DwEhPe) -> Option<u64> {
    if encoding == DW_EH_PE_uleb128 {
        bytes.read_uleb128().ok()
    } else if encoding == DW_EH_PE_udata2 {
        bytes.read_u16().ok().map(u64::from)
    } else if encoding == DW_EH_PE_udata4 || encoding == DW_EH_PE_sdata4 {
        bytes.read_u32().ok().map(u64::from)
    } else if encoding == DW_EH_PE_udata8 {
        bytes.read_u64().ok()
    } else {
        None
    }
}
