//! Answers by the structure of their queries.
//!
//! The text of a script does not depend on the arena or on when terms were made, so it is the structure; it is compared as a whole, which no hash
//! can replace. When the texts take too much memory, the cache starts anew.

use super::{Script, Verdict, Wanted};
use rustc_hash::FxHashMap;

/// Of texts, and of models at 16 bytes a value.
const MOST_BYTES: usize = 64 << 20;

#[derive(Default)]
pub struct Cache {
    verdicts: FxHashMap<Box<str>, Verdict>,
    cores: FxHashMap<Box<str>, Verdict>,
    bytes: usize,
}

impl Cache {
    fn of(&mut self, wanted: Wanted) -> &mut FxHashMap<Box<str>, Verdict> {
        match wanted {
            Wanted::Verdict => &mut self.verdicts,
            Wanted::Core => &mut self.cores,
        }
    }

    pub fn get(&mut self, script: &Script, wanted: Wanted) -> Option<Verdict> {
        self.of(wanted).get(script.text()).cloned()
    }

    pub fn insert(&mut self, script: &Script, wanted: Wanted, verdict: &Verdict) {
        let size = script.text().len() + 16 * script.variables().len();
        if self.bytes + size > MOST_BYTES {
            *self = Cache::default();
        }
        if size <= MOST_BYTES {
            self.bytes += size;
            self.of(wanted).insert(script.text().into(), verdict.clone());
        }
    }
}
