//! The source files of a program, each read once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::read_file::{Files, HostFiles};
use crate::scope::is_system_source;
use crate::source::{SourceFile, SourceMap, Warning};

/// Nobody writes larger sources, and machines that do are no use to read: the largest amalgamations have 10
/// MiB.
const LARGEST: u64 = 32 << 20;

pub(crate) struct Sources {
    /// Where they are read from.
    reader: Files,
    map: SourceMap,
    files: RefCell<BTreeMap<Arc<str>, Option<Rc<SourceFile>>>>,
    /// Pairs of file and object whose ages were compared.
    compared: RefCell<BTreeSet<(Arc<str>, Arc<str>)>>,
    warnings: RefCell<Vec<Warning>>,
}

impl Default for Sources {
    fn default() -> Sources {
        Sources::new(SourceMap::default(), Arc::new(HostFiles))
    }
}

impl Sources {
    pub fn new(map: SourceMap, reader: Files) -> Sources {
        Sources {
            reader,
            map,
            files: RefCell::default(),
            compared: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    pub fn reader(&self) -> &Files {
        &self.reader
    }

    pub fn map(&self) -> &SourceMap {
        &self.map
    }

    /// The source file that the debug information of `object` calls `path`.
    pub fn file(&self, path: &Arc<str>, object: &Arc<str>) -> Option<Rc<SourceFile>> {
        let known = self.files.borrow().get(path).cloned();
        let file = known.unwrap_or_else(|| {
            let read = self.read(path);
            self.files.borrow_mut().insert(path.clone(), read.clone());
            read
        })?;
        if self.compared.borrow_mut().insert((path.clone(), object.clone())) {
            self.compare_ages(path, object);
        }
        Some(file)
    }

    /// Adds a warning, unless it has been given.
    pub fn warn(&self, warning: Warning) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// In the order in which they arose.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.borrow().clone()
    }

    fn read(&self, path: &Arc<str>) -> Option<Rc<SourceFile>> {
        // A program without debug information has no sources to miss.
        if path.is_empty() {
            return None;
        }
        let looked_at = self.map.apply(path);
        match self.reader.read(Path::new(&looked_at), LARGEST) {
            Ok(content) => Some(Rc::new(SourceFile::new(&looked_at, content))),
            Err(error) => {
                // Nobody expects to have the sources of the system.
                if !is_system_source(path) {
                    self.warn(Warning::SourceMissing {
                        file: path.clone(),
                        looked_at,
                        reason: reason(&error),
                    });
                }
                None
            }
        }
    }

    fn compare_ages(&self, path: &Arc<str>, object: &Arc<str>) {
        let source = self.reader.modified(Path::new(&self.map.apply(path)));
        let built = self.reader.modified(Path::new(&**object));
        if let (Some(source), Some(built)) = (source, built)
            && source > built
        {
            self.warn(Warning::SourceNewer { file: path.clone(), object: object.clone() });
        }
    }
}

/// Without the number that the standard library adds.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    match text.chars().next() {
        Some(first) => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        None => String::new(),
    }
}
