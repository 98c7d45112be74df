//! Entries at any depth inside of others.

use gimli::DwTag;

use super::{Debug, Die, Entry};

impl<'a> Debug<'a> {
    /// The entry that all others of a unit are inside of.
    pub fn root(self, unit: u32) -> Option<Entry<'a>> {
        let offset = self.unit(unit)?.header.header_size();
        self.entry(Die { unit, offset })
    }
}

impl<'a> Entry<'a> {
    /// The entries inside of this one that have one of some tags, at whatever depth, in the order of the file.
    /// Each comes with its depth, of which children have 1.
    pub fn inside(&self, tags: &[DwTag]) -> impl Iterator<Item = (isize, Entry<'a>)> {
        let (debug, unit, number) = (self.debug, self.unit, self.die.unit);
        let mut cursor = unit.entries_at_offset(self.entry.offset()).ok();
        let mut depth = 0isize;
        // The cursor begins at this entry itself.
        let has_begun = cursor.as_mut().is_some_and(|cursor| matches!(cursor.next_dfs(), Ok(Some(_))));
        let mut cursor = cursor.filter(|_| has_begun);
        std::iter::from_fn(move || {
            loop {
                let (step, entry) = cursor.as_mut()?.next_dfs().ok()??;
                depth = depth.saturating_add(step);
                if depth <= 0 {
                    return None;
                }
                if tags.contains(&entry.tag()) {
                    let die = Die { unit: number, offset: entry.offset().0 };
                    return Some((depth, Entry { debug, die, unit, entry: entry.clone() }));
                }
            }
        })
    }
}
