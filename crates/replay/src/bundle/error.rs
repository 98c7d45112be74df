//! Why a file is refused as a bundle, worded to follow the file's name.

/// What is wrong with a file that was to be a bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("is no bundle; `whydunit record` makes one")]
    NotABundle,
    #[error("is cut short at byte {at}; copy or record it again")]
    CutShort { at: u64 },
    #[error("was made by a newer whydunit (format {version}); this one reads up to {}", super::VERSION)]
    Newer { version: u32 },
    /// Its bytes are not those that were written.
    #[error("is damaged: {what}; copy or record it again")]
    Damaged { what: String },
    /// Its bytes are as they were written, but nothing of ours writes such.
    #[error("makes no sense: {what}")]
    Nonsense { what: String },
}

impl BundleError {
    pub(super) fn damaged(what: impl Into<String>) -> BundleError {
        BundleError::Damaged { what: what.into() }
    }

    pub(super) fn nonsense(what: impl Into<String>) -> BundleError {
        BundleError::Nonsense { what: what.into() }
    }
}
