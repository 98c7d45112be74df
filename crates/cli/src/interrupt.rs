//! Ctrl-C as a wish to stop, for commands that have something to show for the time that was spent.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    IS_INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From now on the first Ctrl-C is only noted; the second one ends the process, as ever.
pub fn catch() {
    // SAFETY: the structure is plain data for which zeros are valid, and the handler does nothing but store to an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
        // If it cannot be caught, Ctrl-C ends the process.
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}
