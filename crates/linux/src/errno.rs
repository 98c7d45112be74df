//! The kernel's error numbers as the guest sees them.
//!
//! They are spelled out here, and not taken from the host's headers, because they are part of the guest's
//! interface: the same on every host that whydunit runs on.

use std::fmt;

/// One error number of x86-64 Linux. A failing system call returns its negation in rax.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// What a system call that fails with this error leaves in rax.
    pub fn as_return_value(self) -> u64 {
        (-i64::from(self.0)) as u64
    }

    /// The error that the host reported, or EIO for one that has no number.
    pub fn from_host(error: &std::io::Error) -> Errno {
        error.raw_os_error().map_or(Errno::EIO, Errno)
    }

    /// `ENOENT` and the like; `None` for a number that has no name here.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(errno, _, _)| *errno == self).map(|(_, name, _)| *name)
    }

    fn description(self) -> Option<&'static str> {
        NAMES.iter().find(|(errno, _, _)| *errno == self).map(|(_, _, text)| *text)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.0),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.description() {
            Some(text) => f.write_str(text),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl std::error::Error for Errno {}

/// Declares the constants and the table of their names from one list.
macro_rules! errnos {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Errno {
            $(pub const $name: Errno = Errno($number);)*
            /// Linux has two names for one number.
            pub const EWOULDBLOCK: Errno = Errno::EAGAIN;
            pub const ENOTSUP: Errno = Errno::EOPNOTSUPP;
        }

        const NAMES: &[(Errno, &str, &str)] = &[$((Errno::$name, stringify!($name), $text)),*];
    };
}

errnos! {
    EPERM = 1, "Operation not permitted";
    ENOENT = 2, "No such file or directory";
    ESRCH = 3, "No such process";
    EINTR = 4, "Interrupted system call";
    EIO = 5, "Input/output error";
    ENXIO = 6, "No such device or address";
    E2BIG = 7, "Argument list too long";
    ENOEXEC = 8, "Exec format error";
    EBADF = 9, "Bad file descriptor";
    ECHILD = 10, "No child processes";
    EAGAIN = 11, "Resource temporarily unavailable";
    ENOMEM = 12, "Cannot allocate memory";
    EACCES = 13, "Permission denied";
    EFAULT = 14, "Bad address";
    ENOTBLK = 15, "Block device required";
    EBUSY = 16, "Device or resource busy";
    EEXIST = 17, "File exists";
    EXDEV = 18, "Invalid cross-device link";
    ENODEV = 19, "No such device";
    ENOTDIR = 20, "Not a directory";
    EISDIR = 21, "Is a directory";
    EINVAL = 22, "Invalid argument";
    ENFILE = 23, "Too many open files in system";
    EMFILE = 24, "Too many open files";
    ENOTTY = 25, "Inappropriate ioctl for device";
    ETXTBSY = 26, "Text file busy";
    EFBIG = 27, "File too large";
    ENOSPC = 28, "No space left on device";
    ESPIPE = 29, "Illegal seek";
    EROFS = 30, "Read-only file system";
    EMLINK = 31, "Too many links";
    EPIPE = 32, "Broken pipe";
    EDOM = 33, "Numerical argument out of domain";
    ERANGE = 34, "Numerical result out of range";
    EDEADLK = 35, "Resource deadlock avoided";
    ENAMETOOLONG = 36, "File name too long";
    ENOLCK = 37, "No locks available";
    ENOSYS = 38, "Function not implemented";
    ENOTEMPTY = 39, "Directory not empty";
    ELOOP = 40, "Too many levels of symbolic links";
    ENODATA = 61, "No data available";
    ETIME = 62, "Timer expired";
    EPROTO = 71, "Protocol error";
    EOVERFLOW = 75, "Value too large for defined data type";
    ENOTSOCK = 88, "Socket operation on non-socket";
    EOPNOTSUPP = 95, "Operation not supported";
    EAFNOSUPPORT = 97, "Address family not supported by protocol";
    ETIMEDOUT = 110, "Connection timed out";
    ECONNREFUSED = 111, "Connection refused";
    EDQUOT = 122, "Disk quota exceeded";
    ECANCELED = 125, "Operation canceled";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_call_returns_the_negated_number() {
        assert_eq!(Errno::ENOENT.as_return_value(), 0xffff_ffff_ffff_fffe);
    }

    #[test]
    fn numbers_and_texts_are_those_of_the_host() {
        for (errno, _, text) in NAMES {
            let host = std::io::Error::from_raw_os_error(errno.0).to_string();
            assert_eq!(host, format!("{text} (os error {})", errno.0));
        }
    }

    #[test]
    fn errors_print_by_name_in_debug_and_as_text_for_people() {
        assert_eq!(format!("{:?} {:?}", Errno::ENOTEMPTY, Errno(4000)), "ENOTEMPTY Errno(4000)");
        assert_eq!(Errno::ENOTEMPTY.to_string(), "Directory not empty");
    }
}
