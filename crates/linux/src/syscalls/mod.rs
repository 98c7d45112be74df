//! System calls, one file an area. Each area extends [`Call`] with a method a call, and says by number which
//! calls it serves.

// The table is whole, whether we serve a call or not, and spells the names as Linux does.
#[allow(non_upper_case_globals, dead_code)]
pub mod nr;

mod descriptors;
mod directories;
mod file_mappings;
mod files;
mod identity;
mod memory;
mod metadata;
mod process;
mod process_text;
mod readiness;
mod scheduling;
mod signals;
mod time;
mod transfer;

pub use file_mappings::{MappedCopies, SharedMapping};

use crate::errno::Errno;
use crate::kernel::{Args, Call, SysResult};

/// An area's dispatcher: `None` when the call is not of this area.
type Area = fn(&mut Call<'_>, u64, Args) -> Option<SysResult>;

const AREAS: &[Area] = &[
    transfer::serve,
    files::serve,
    descriptors::serve,
    metadata::serve,
    directories::serve,
    readiness::serve,
    memory::serve,
    time::serve,
    process::serve,
    identity::serve,
    scheduling::serve,
    signals::serve,
];

/// Serves one call: its number and arguments to its result.
pub fn dispatch(call: &mut Call<'_>, number: u64, args: Args) -> SysResult {
    let reconcile = !call.kernel.shared.is_empty() && file_mappings::touches_files(number);
    if reconcile {
        call.synchronise_shared();
    }
    let result = AREAS.iter().find_map(|area| area(call, number, args));
    if reconcile {
        call.synchronise_shared();
    }
    result.unwrap_or_else(|| call.unknown(number, args))
}

impl Call<'_> {
    /// Programs probe for these as a matter of course and have another way ready: no warning.
    const SILENT: &'static [u64] = &[nr::rseq, nr::clone3, nr::membarrier];

    fn unknown(&mut self, number: u64, args: Args) -> SysResult {
        // The C library looks for a local cache of names before it reads /etc/passwd itself.
        const LOCAL: u64 = 1;
        const CLONE_THREAD: u64 = 0x1_0000;
        let name_cache = number == nr::socket && args[0] == LOCAL;
        if !name_cache && !Self::SILENT.contains(&number) {
            let name = nr::name(number).map_or_else(|| format!("number {number}"), str::to_string);
            let warning = match number {
                nr::clone if args[0] & CLONE_THREAD != 0 => format!("threads are not supported yet: {name}"),
                nr::clone | nr::fork | nr::vfork => format!("child processes are not supported yet: {name}"),
                nr::execve | nr::execveat => format!("starting other programs is not supported yet: {name}"),
                _ => format!("system call {name} is not supported; it"),
            };
            self.kernel.warnings.add(format!("{warning} failed with ENOSYS"));
        }
        Err(Errno::ENOSYS)
    }
}

#[cfg(test)]
mod tests;
