//! Statements of initialised data.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::source::SourceFile;
use crate::statements::initialisers::Declaration;
use crate::statements::layout;
use crate::statements::shape::Shape;
use crate::statements::{Part, PlacedStmt, Stmt, View};
use crate::types::TypeKind;
use crate::variables::{FixedVariable, fixed_variables};

/// So many variables before an address are asked whether they reach it; real ones do not overlap.
const MOST_BEFORE: usize = 8;

/// So many elements and stray bytes of one variable are listed.
const MOST_LISTED: usize = 65_536;

#[derive(Default)]
pub(crate) struct DataTables {
    /// By address.
    variables: OnceCell<Vec<FixedVariable>>,
    /// By the variable's place in the list.
    declarations: RefCell<BTreeMap<usize, Rc<Declared>>>,
}

/// What a variable is made of and how it was declared.
pub(super) struct Declared {
    pub shape: Shape,
    pub declaration: Declaration,
}

impl View<'_> {
    pub fn statement_of_data(&self, address: u64) -> Option<Stmt> {
        let (index, offset) = self.variable_at(address)?;
        Some(self.statement_of_byte(index, offset)?.0)
    }

    pub fn statements_of_variable(&self, address: u64) -> Vec<PlacedStmt> {
        let mut found: Vec<PlacedStmt> = Vec::new();
        let Some((index, _)) = self.variable_at(address) else { return found };
        let Some((variable, declared)) = self.variable(index).zip(self.declared(index)) else { return found };
        let mut offset = 0;
        for _ in 0..MOST_LISTED {
            if offset >= declared.shape.size {
                break;
            }
            let Some((stmt, bytes)) = self.statement_of_byte(index, offset) else { break };
            let is_padding = declared.shape.is_padding(offset);
            offset = bytes.end;
            let address = |offset| variable.address.saturating_add(offset);
            let range = address(bytes.start)..address(bytes.end);
            match found.last_mut().filter(|last| last.stmt == stmt).and_then(|last| last.ranges.last_mut()) {
                _ if is_padding => {}
                Some(last) => last.end = range.end,
                None => found.push(PlacedStmt { stmt, ranges: vec![range] }),
            }
        }
        found
    }

    /// The text that initialises an element of a variable.
    pub(super) fn initialiser_text(
        &self,
        stmt: &Stmt,
        variable: &str,
        element: &str,
    ) -> Option<Range<usize>> {
        let is_it = |found: &FixedVariable| {
            *found.name == *variable && found.file == stmt.file && found.function == stmt.function
        };
        let index = self.variables().iter().position(is_it)?;
        let declared = self.declared(index)?;
        let Declaration::Initialised(initialiser) = &declared.declaration else { return None };
        let (text, _) = initialiser.of(&declared.shape, &declared.shape.path_named(element)?)?;
        Some(text)
    }

    /// The statement that initialises a byte of a variable, and the bytes of the variable that belong to it.
    fn statement_of_byte(&self, index: usize, offset: u64) -> Option<(Stmt, Range<u64>)> {
        let variable = self.variable(index)?;
        let declared = self.declared(index)?;
        let smallest = declared.shape.path_to(offset);
        let (line, path) = match &declared.declaration {
            Declaration::NotInitialised => return None,
            Declaration::Unknown if !self.is_in_file(variable.address) => return None,
            Declaration::Unknown => (variable.line, smallest.clone()),
            Declaration::Initialised(initialiser) => {
                let (text, path) = initialiser.of(&declared.shape, &smallest)?;
                (self.source_of(variable)?.position(text.start).0, path)
            }
        };
        // Bit-fields share bytes with others, of which the next byte may hold none.
        let is_shared = path == smallest && declared.shape.at(&path).is_some_and(Shape::is_structure);
        let element = Arc::from(declared.shape.name_of(&path));
        let bytes = match declared.shape.range_of(&path) {
            Some(bytes) if bytes.start == offset && !is_shared => bytes,
            _ => offset..offset.saturating_add(1),
        };
        let part = Part::Initialiser { variable: variable.name.clone(), element };
        let (object, function) = (self.object.path.clone(), variable.function.clone());
        Some((Stmt { object, file: variable.file.clone(), line, part, function }, bytes))
    }

    /// The variable that has the byte at an address, and which byte that is.
    fn variable_at(&self, address: u64) -> Option<(usize, u64)> {
        let list = self.variables();
        let after = list.partition_point(|variable| variable.address <= address);
        (0..after).rev().take(MOST_BEFORE).find_map(|index| {
            let offset = address.checked_sub(list.get(index)?.address)?;
            (offset < self.declared(index)?.shape.size).then_some((index, offset))
        })
    }

    fn variables(&self) -> &[FixedVariable] {
        self.object.statements.data.variables.get_or_init(|| fixed_variables(&self.types))
    }

    fn variable(&self, index: usize) -> Option<&FixedVariable> {
        self.variables().get(index)
    }

    fn declared(&self, index: usize) -> Option<Rc<Declared>> {
        let known = &self.object.statements.data.declarations;
        if let Some(declared) = known.borrow().get(&index) {
            return Some(declared.clone());
        }
        let variable = self.variable(index)?;
        let shape = layout::shape(&self.types, variable.of)?;
        let declaration = self.declaration(variable, &shape);
        let declared = Rc::new(Declared { shape, declaration });
        known.borrow_mut().insert(index, declared.clone());
        Some(declared)
    }

    fn declaration(&self, variable: &FixedVariable, shape: &Shape) -> Declaration {
        let Some(file) = self.source_of(variable).filter(|file| file.is_c_or_cpp()) else {
            return Declaration::Unknown;
        };
        let enumerators = OnceCell::new();
        let value = |name: &str| {
            let in_unit = enumerators.get_or_init(|| self.enumerators(variable.unit)).get(name).copied();
            in_unit.or_else(|| file.syntax()?.enumerators(file.content()).get(name).copied())
        };
        Declaration::find(&file, &variable.name, variable.line, shape, &value)
    }

    /// The enumerators of a unit, by name. No index is negative.
    fn enumerators(&self, unit: u32) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        let Some(root) = self.types.debug.root(unit) else { return found };
        for (_, entry) in root.inside(&[gimli::DW_TAG_enumeration_type]) {
            if let TypeKind::Enum { enumerators, .. } = &self.types.get(self.types.id(entry.die)).kind {
                let values = enumerators.iter().filter_map(|enumerator| {
                    Some((enumerator.name.clone(), u64::try_from(enumerator.value).ok()?))
                });
                found.extend(values);
            }
        }
        found
    }

    fn source_of(&self, variable: &FixedVariable) -> Option<Rc<SourceFile>> {
        self.sources.file(&variable.file, &self.object.path)
    }

    /// Whether the file has bytes for an address, not only room.
    fn is_in_file(&self, address: u64) -> bool {
        self.object.bytes_at(address).is_some_and(|bytes| !bytes.is_empty())
    }
}
