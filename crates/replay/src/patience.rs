//! How long somebody waits for an answer.

use std::fmt;
use std::sync::Arc;

/// Says when whoever waits has waited long enough: slices then end with what they have. Nobody's patience ends by itself.
#[derive(Clone, Default)]
pub struct Patience(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Patience {
    /// `is_over` is asked again and again, by several threads.
    pub fn until(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Patience {
        Patience(Some(Arc::new(is_over)))
    }

    pub fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|is_over| is_over())
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Patience").field(&self.is_over()).finish()
    }
}
