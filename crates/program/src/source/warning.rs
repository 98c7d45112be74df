//! What the user should know about how much was found.

use std::fmt;
use std::sync::Arc;

/// Something that makes the answers poorer than they could be. Each is collected once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// An object that was asked about has no debug information.
    NoDebugInfo { object: Arc<str> },
    /// A source file could not be read.
    SourceMissing { file: Arc<str>, looked_at: String, reason: String },
    /// A source file was changed after the object was.
    SourceNewer { file: Arc<str>, object: Arc<str> },
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoDebugInfo { object } => write!(
                formatter,
                "{object} has no debug information, so only its symbols are known: build it with -g, or install its \
                 -dbgsym package (debuginfod is not asked)"
            ),
            Warning::SourceMissing { file, looked_at, reason } => {
                write!(formatter, "the source {looked_at} cannot be read ({reason})")?;
                if looked_at != &**file {
                    write!(formatter, ", to which {file} is mapped")?;
                }
                write!(
                    formatter,
                    ": statements are told by line number; --source-map OLD=NEW says where sources are"
                )
            }
            Warning::SourceNewer { file, object } => write!(
                formatter,
                "{file} was changed after {object} was built: its lines may not be the ones that were compiled"
            ),
        }
    }
}
