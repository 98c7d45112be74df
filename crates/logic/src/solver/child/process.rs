//! A child process that is talked to by texts, within limits that it cannot exceed.

use super::reply::{Expression, Malformed, Reader};
use crate::solver::Limits;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// More than the values of any query take.
const MOST_OUTPUT: usize = 256 << 20;
/// Of what it says on its standard error, the beginning.
const MOST_COMPLAINT: usize = 400;
const CHUNK: usize = 1 << 16;
/// How much output may wait to be looked at, in chunks.
const WAITING: usize = 16;

/// Why there is no reply.
pub enum Trouble {
    Missing(std::io::Error),
    Ended { how: String, said: String },
    Slow,
    Nonsense(String),
}

pub struct Process {
    process: std::process::Child,
    input: Sender<String>,
    output: Receiver<Vec<u8>>,
    complaint: Receiver<String>,
    deadline: Instant,
    /// How much time of a processor it may take.
    processor_time: Duration,
    reader: Reader,
    /// Bytes that came and were not read yet, the next one last.
    waiting: Vec<u8>,
    received: usize,
    is_stopped: bool,
}

impl Process {
    pub fn start(words: &[String], limits: Limits) -> Result<Process, Trouble> {
        let nothing = || std::io::Error::new(std::io::ErrorKind::NotFound, "no program is named");
        let (program, arguments) = words.split_first().ok_or_else(|| Trouble::Missing(nothing()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that what it starts ends with it.
        command.process_group(0);
        let mut process = command.spawn().map_err(Trouble::Missing)?;
        limit(&process, limits);
        let input = writer(process.stdin.take());
        let output = chunks(process.stdout.take());
        let complaint = beginning(process.stderr.take());
        let time = Duration::from_secs(limits.seconds.into());
        Ok(Process {
            process,
            input,
            output,
            complaint,
            deadline: Instant::now() + time,
            processor_time: time,
            reader: Reader::default(),
            waiting: Vec::new(),
            received: 0,
            is_stopped: false,
        })
    }

    /// Without waiting until it is read. Whoever does not read will not answer, which is seen then.
    pub fn send(&mut self, text: String) {
        let _ = self.input.send(text);
    }

    /// The next expression that it says.
    pub fn reply(&mut self) -> Result<Expression, Trouble> {
        loop {
            while let Some(byte) = self.waiting.pop() {
                if let Some(reply) = self.reader.take(byte).map_err(malformed)? {
                    return Ok(reply);
                }
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(mut chunk) => {
                    self.received += chunk.len();
                    if self.received > MOST_OUTPUT {
                        return Err(Trouble::Nonsense(format!("more than {} MiB", MOST_OUTPUT >> 20)));
                    }
                    chunk.reverse();
                    self.waiting = chunk;
                }
                Err(RecvTimeoutError::Timeout) => return Err(Trouble::Slow),
                Err(RecvTimeoutError::Disconnected) => {
                    return self.reader.finish().ok_or_else(|| self.ended());
                }
            }
        }
    }

    /// It has closed its output: how it ended.
    fn ended(&mut self) -> Trouble {
        let said = self.complaint.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let used = loop {
            match self.used_until_its_end() {
                Some(used) => break used,
                None if Instant::now() >= self.deadline => return Trouble::Slow,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        match self.stop() {
            Ok(status) => self.end(status, used, said),
            Err(error) => Trouble::Ended { how: format!("was lost ({error})"), said },
        }
    }

    /// The processor time that it took, once it has ended. It is not waited for yet, so that its number stays its own.
    fn used_until_its_end(&self) -> Option<Duration> {
        // SAFETY: all zeroes are such structures, and they are alive during the call. (The C library's `waitid` does not tell the times.)
        let (result, ended, usage) = unsafe {
            let mut information: libc::siginfo_t = std::mem::zeroed();
            let mut usage: libc::rusage = std::mem::zeroed();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let result = libc::syscall(
                libc::SYS_waitid,
                libc::P_PID,
                self.process.id(),
                &mut information,
                options,
                &mut usage,
            );
            (result, information.si_pid(), usage)
        };
        (result != 0 || ended != 0).then(|| duration(usage.ru_utime) + duration(usage.ru_stime))
    }

    /// Ends it, and what it has started.
    fn stop(&mut self) -> std::io::Result<ExitStatus> {
        if let Ok(group) = libc::pid_t::try_from(self.process.id())
            && !self.is_stopped
        {
            // SAFETY: a system call without pointers. The process was not waited for, so the number of its group is no other's.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        self.is_stopped = true;
        self.process.wait()
    }

    fn end(&self, status: ExitStatus, used: Duration, said: String) -> Trouble {
        match (status.signal(), status.code()) {
            (Some(libc::SIGXCPU), _) => Trouble::Slow,
            // The kernel looks at the hard limit first, so who comes to both limits at once never hears of the soft one.
            (Some(libc::SIGKILL), _) if used >= self.processor_time || Instant::now() >= self.deadline => {
                Trouble::Slow
            }
            (Some(signal), _) => Trouble::Ended { how: format!("was killed by signal {signal}"), said },
            (None, Some(code)) => Trouble::Ended { how: format!("ended with status {code}"), said },
            (None, None) => Trouble::Ended { how: "ended".to_owned(), said },
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn duration(time: libc::timeval) -> Duration {
    let microseconds = time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_usec);
    Duration::from_micros(u64::try_from(microseconds).unwrap_or(0))
}

fn malformed(Malformed(what): Malformed) -> Trouble {
    Trouble::Nonsense(what.to_owned())
}

/// Before it has been asked anything. (To set limits between fork and exec would take a fork that copies the tables of all of our memory.)
fn limit(process: &Child, limits: Limits) {
    let set = |resource, soft: u64, hard: u64| {
        let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
        // SAFETY: the structure is alive during the call. The process is not waited for yet, so that its number is its own; if it has ended, nothing happens.
        unsafe { libc::prlimit(process.id() as libc::pid_t, resource, &limit, std::ptr::null_mut()) };
    };
    let memory = u64::from(limits.memory) << 20;
    set(libc::RLIMIT_AS, memory, memory);
    // At the hard limit it is killed as by anybody; at the soft one the signal tells why.
    let seconds = u64::from(limits.seconds);
    set(libc::RLIMIT_CPU, seconds, seconds + 1);
    set(libc::RLIMIT_CORE, 0, 0);
}

/// A thread that writes what it is sent, as fast as it is read.
fn writer(input: Option<ChildStdin>) -> Sender<String> {
    let (sender, texts) = channel::<String>();
    std::thread::spawn(move || {
        let Some(mut input) = input else { return };
        for text in texts {
            // A process that ended does not read; that it ended is seen at its output.
            if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// A thread that reads, some chunks ahead at most, and ends with the process or when nobody listens.
fn chunks(output: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let Some(mut output) = output else { return };
        let mut buffer = vec![0; CHUNK];
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The beginning of what is said, in one line, when there is no more.
fn beginning(output: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(mut output) = output else { return };
        let mut start = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            let room = MOST_COMPLAINT.saturating_sub(start.len());
            start.extend_from_slice(&buffer[..count.min(room)]);
        }
        let text = String::from_utf8_lossy(&start);
        let words: Vec<&str> = text.split_whitespace().collect();
        let _ = sender.send(words.join(" "));
    });
    receiver
}
