//! Where variables are, with the shapes of their types.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{AttributeValue, DebugInfoOffset, DwAt, Dwarf, EvaluationResult, Location, UnitOffset, UnitType};

use crate::debug_info::Reader;
use crate::statements::functions::{Entry, Unit};
use crate::statements::shape::{Kind, Member, Shape};

/// Types nest by value only as deep as somebody wrote them; a damaged file can make one hold itself.
const DEEPEST_TYPE: usize = 32;

/// So many parts of one type are told apart, before it is taken as a whole.
const MOST_PARTS: usize = 10_000;

/// A declaration is at most so many references away from its definition.
const MOST_REFERENCES: usize = 4;

/// Steps of the expression that says where a variable is; an address takes one.
const MOST_STEPS: u32 = 16;

/// A variable with an address of its own.
pub(super) struct Variable {
    pub name: Arc<str>,
    /// The function that it is static in.
    pub function: Option<Arc<str>>,
    pub address: u64,
    pub file: Arc<str>,
    pub line: u32,
    /// Of [`Units`].
    pub unit: usize,
    /// The unit and the entry of its type.
    of_type: (usize, UnitOffset),
}

/// All units of an object.
pub(super) struct AllUnits {
    /// Those of .debug_info come first, in its order.
    units: Vec<Unit>,
    /// Types that have a unit of their own: its index, and the type in it.
    types: BTreeMap<u64, (usize, UnitOffset)>,
}

/// All units of an object, and the sections that they are in.
pub(super) struct Units<'a> {
    pub dwarf: &'a Dwarf<Reader>,
    pub all: &'a AllUnits,
}

impl AllUnits {
    /// Reads the headers of all units.
    pub fn new(dwarf: &Dwarf<Reader>) -> AllUnits {
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header));
        }
        // Until DWARF 4, types that several units share have a section of their own.
        let mut headers = dwarf.type_units();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header));
        }
        let of_type = |(index, unit): (usize, &Unit)| match unit.header.type_() {
            UnitType::Type { type_signature, type_offset } => Some((type_signature.0, (index, type_offset))),
            _ => None,
        };
        let types = units.iter().enumerate().filter_map(of_type).collect();
        AllUnits { units, types }
    }
}

impl Units<'_> {
    /// The variables of all units that have an address, by address.
    pub fn variables(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        for (index, unit) in self.all.units.iter().enumerate() {
            self.variables_of(index, unit, &mut found);
        }
        found.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        found
    }

    fn variables_of(&self, index: usize, unit: &Unit, found: &mut Vec<Variable>) {
        let mut entries = unit.entries();
        let mut depth = 0isize;
        // The functions around the current entry.
        let mut functions: Vec<(isize, UnitOffset)> = Vec::new();
        while let Ok(Some((delta, entry))) = entries.next_dfs() {
            depth = depth.saturating_add(delta);
            while functions.pop_if(|(at, _)| *at >= depth).is_some() {}
            match entry.tag() {
                gimli::DW_TAG_subprogram => functions.push((depth, entry.offset())),
                gimli::DW_TAG_variable => {
                    let Some(address) = self.address(unit, entry) else { continue };
                    let function = functions.last().and_then(|(_, function)| {
                        let entry = unit.entry(*function).ok()?;
                        self.name(index, &entry)
                    });
                    found.extend(self.variable(index, entry, address, function));
                }
                _ => {}
            }
        }
    }

    fn variable(
        &self,
        unit: usize,
        entry: &Entry<'_>,
        address: u64,
        function: Option<Arc<str>>,
    ) -> Option<Variable> {
        let name = self.name(unit, entry)?;
        let (_, line) = self.attribute(unit, entry, gimli::DW_AT_decl_line)?;
        let line = u32::try_from(line.udata_value()?).ok()?;
        let (file_unit, file) = self.attribute(unit, entry, gimli::DW_AT_decl_file)?;
        let file = self.file(file_unit, &file)?;
        let (type_unit, of_type) = self.attribute(unit, entry, gimli::DW_AT_type)?;
        let of_type = self.follow(type_unit, &of_type)?;
        Some(Variable { name, function, address, file, line, unit, of_type })
    }

    pub fn shape(&self, variable: &Variable) -> Option<Shape> {
        self.shape_at(variable.of_type, DEEPEST_TYPE, &mut 0)
    }

    /// The fixed address of a variable.
    fn address(&self, unit: &Unit, entry: &Entry<'_>) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location).ok()?? else {
            return None;
        };
        let mut evaluation = expression.evaluation(unit.encoding());
        evaluation.set_max_iterations(MOST_STEPS);
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address).ok()?
                }
                EvaluationResult::RequiresIndexedAddress { index, .. } => {
                    let address = self.dwarf.address(unit, index).ok()?;
                    evaluation.resume_with_indexed_address(address).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result() {
            [piece] if piece.size_in_bits.is_none() => match piece.location {
                Location::Address { address } if address != 0 => Some(address),
                _ => None,
            },
            _ => None,
        }
    }

    /// The enumerators of a unit, by name.
    pub fn enumerators(&self, unit: usize) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        let Some(of) = self.all.units.get(unit) else { return found };
        let mut entries = of.entries();
        while let Ok(Some((_, entry))) = entries.next_dfs() {
            if entry.tag() == gimli::DW_TAG_enumerator
                && let Some(name) = self.name(unit, entry)
                && let Ok(Some(value)) = entry.attr_value(gimli::DW_AT_const_value)
                && let Some(value) = value.udata_value()
            {
                found.insert(name.to_string(), value);
            }
        }
        found
    }

    /// An attribute of an entry, or of the one that it completes or is an instance of, and the unit that has
    /// it.
    fn attribute(
        &self,
        unit: usize,
        entry: &Entry<'_>,
        wanted: DwAt,
    ) -> Option<(usize, AttributeValue<Reader>)> {
        let own = |entry: &Entry<'_>, at| entry.attr_value(at).ok().flatten();
        if let Some(value) = own(entry, wanted) {
            return Some((unit, value));
        }
        let origin = |entry: &Entry<'_>| {
            own(entry, gimli::DW_AT_specification).or_else(|| own(entry, gimli::DW_AT_abstract_origin))
        };
        let (mut at, mut reference) = (unit, origin(entry)?);
        for _ in 0..MOST_REFERENCES {
            let (unit, offset) = self.follow(at, &reference)?;
            let entry = self.all.units.get(unit)?.entry(offset).ok()?;
            if let Some(value) = own(&entry, wanted) {
                return Some((unit, value));
            }
            (at, reference) = (unit, origin(&entry)?);
        }
        None
    }

    /// The entry that an attribute refers to.
    fn follow(&self, unit: usize, reference: &AttributeValue<Reader>) -> Option<(usize, UnitOffset)> {
        match reference {
            AttributeValue::UnitRef(offset) => Some((unit, *offset)),
            AttributeValue::DebugInfoRef(offset) => self.unit_with(*offset),
            AttributeValue::DebugTypesRef(signature) => self.all.types.get(&signature.0).copied(),
            _ => None,
        }
    }

    fn unit_with(&self, offset: DebugInfoOffset) -> Option<(usize, UnitOffset)> {
        let start = |unit: &Unit| unit.header.offset().as_debug_info_offset();
        let after = self.all.units.partition_point(|unit| start(unit).is_some_and(|start| start <= offset));
        let index = after.checked_sub(1)?;
        Some((index, offset.to_unit_offset(&self.all.units.get(index)?.header)?))
    }

    fn name(&self, unit: usize, entry: &Entry<'_>) -> Option<Arc<str>> {
        let (unit, value) = self.attribute(unit, entry, gimli::DW_AT_name)?;
        let text = self.dwarf.attr_string(self.all.units.get(unit)?, value).ok()?;
        Some(Arc::from(&*lossy(&text)))
    }

    /// The path of a source file, put together as the line tables do it.
    fn file(&self, unit: usize, index: &AttributeValue<Reader>) -> Option<Arc<str>> {
        let AttributeValue::FileIndex(index) = index else { return None };
        let unit = self.all.units.get(unit)?;
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(*index)?;
        let text = |value| self.dwarf.attr_string(unit, value).ok();
        let mut path =
            unit.comp_dir.as_ref().map_or(String::new(), |directory| lossy(directory).into_owned());
        if file.directory_index() != 0
            && let Some(directory) = file.directory(header).and_then(text)
        {
            push(&mut path, &lossy(&directory));
        }
        push(&mut path, &lossy(&text(file.path_name())?));
        Some(Arc::from(path))
    }

    fn shape_of(
        &self,
        unit: usize,
        reference: &AttributeValue<Reader>,
        depth: usize,
        parts: &mut usize,
    ) -> Option<Shape> {
        self.shape_at(self.follow(unit, reference)?, depth, parts)
    }

    fn shape_at(
        &self,
        (unit, offset): (usize, UnitOffset),
        depth: usize,
        parts: &mut usize,
    ) -> Option<Shape> {
        let entry = self.all.units.get(unit)?.entry(offset).ok()?;
        let size =
            || entry.attr_value(gimli::DW_AT_byte_size).ok().flatten().and_then(|value| value.udata_value());
        *parts += 1;
        let deeper = (*parts < MOST_PARTS).then(|| depth.checked_sub(1)).flatten();
        // A type that has a unit of its own is declared here with that unit's name.
        if let (Ok(Some(signature)), Some(depth)) = (entry.attr_value(gimli::DW_AT_signature), deeper) {
            return self.shape_of(unit, &signature, depth, parts);
        }
        match (entry.tag(), deeper) {
            (gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type, Some(depth)) => {
                self.shape_of(unit, &entry.attr_value(gimli::DW_AT_type).ok()??, depth, parts)
            }
            (gimli::DW_TAG_array_type, Some(depth)) => self.array(unit, &entry, depth, parts),
            (
                tag @ (gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type),
                Some(depth),
            ) => {
                let members = self.members(unit, offset, depth, parts)?;
                Some(Shape {
                    size: size()?,
                    kind: Kind::Record { members, is_union: tag == gimli::DW_TAG_union_type },
                })
            }
            (gimli::DW_TAG_base_type, _) => {
                let encoding = entry.attr_value(gimli::DW_AT_encoding).ok().flatten();
                let is_float = matches!(encoding, Some(AttributeValue::Encoding(gimli::DW_ATE_float)));
                Some(Shape { size: size()?, kind: Kind::Scalar { is_integer: !is_float } })
            }
            // Pointers often say no size.
            _ => Some(Shape::scalar(size().unwrap_or(8))),
        }
    }

    fn array(&self, unit: usize, entry: &Entry<'_>, depth: usize, parts: &mut usize) -> Option<Shape> {
        let of_type = entry.attr_value(gimli::DW_AT_type).ok()??;
        let mut shape = self.shape_of(unit, &of_type, depth, parts)?;
        let mut tree = self.all.units.get(unit)?.entries_tree(Some(entry.offset())).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut counts = Vec::new();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if entry.tag() == gimli::DW_TAG_subrange_type && counts.len() < DEEPEST_TYPE {
                let number = |at| entry.attr_value(at).ok().flatten().and_then(|value| value.udata_value());
                let count =
                    number(gimli::DW_AT_count).or_else(|| number(gimli::DW_AT_upper_bound)?.checked_add(1));
                counts.push(count.unwrap_or(0));
            }
        }
        for count in counts.into_iter().rev() {
            let size = shape.size.checked_mul(count)?;
            shape = Shape { size, kind: Kind::Array { element: Arc::new(shape), count } };
        }
        Some(shape)
    }

    fn members(
        &self,
        unit: usize,
        record: UnitOffset,
        depth: usize,
        parts: &mut usize,
    ) -> Option<Vec<Member>> {
        let mut tree = self.all.units.get(unit)?.entries_tree(Some(record)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut members = Vec::new();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if entry.tag() == gimli::DW_TAG_member && *parts < MOST_PARTS {
                members.extend(self.member(unit, entry, depth, parts));
            }
        }
        Some(members)
    }

    fn member(&self, unit: usize, entry: &Entry<'_>, depth: usize, parts: &mut usize) -> Option<Member> {
        let number = |at| entry.attr_value(at).ok().flatten().and_then(|value| value.udata_value());
        let shape = self.shape_of(unit, &entry.attr_value(gimli::DW_AT_type).ok()??, depth, parts)?;
        let start = number(gimli::DW_AT_data_member_location).unwrap_or(0);
        let bytes = match number(gimli::DW_AT_bit_size) {
            Some(size) => {
                let first = match number(gimli::DW_AT_data_bit_offset) {
                    Some(offset) => offset,
                    // Until DWARF 4, counted from the top of what the member is stored in.
                    None => {
                        let stored = number(gimli::DW_AT_byte_size).unwrap_or(shape.size);
                        let after = number(gimli::DW_AT_bit_offset)?.checked_add(size)?;
                        start.checked_add(stored)?.checked_mul(8)?.checked_sub(after)?
                    }
                };
                first / 8..first.checked_add(size)?.div_ceil(8)
            }
            None => start..start.checked_add(shape.size)?,
        };
        Some(Member { name: self.name(unit, entry), bytes, shape: Arc::new(shape) })
    }
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}

fn lossy(text: &Reader) -> Cow<'_, str> {
    String::from_utf8_lossy(text.bytes())
}
