//! The questions about types, variables and values, in guest addresses.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::debug_info::DebugInfo;
use crate::demangle::demangle_whole;
use crate::entries::{Die, Entry};
use crate::mapping;
use crate::program::Program;
use crate::state::State;
use crate::types::{Type, TypeId, Types};
use crate::unwind::{self, Backtrace, Frame, Memory};
use crate::values::{Builder, Contents, Limits, NoContents, Printer, Value, ValueKind};
use crate::variables::{self, Block, Call, Evaluator, Place, Variable};

impl Program {
    /// The callers of a stopped guest, at most `most` frames.
    pub fn backtrace_of(&self, state: &State<'_>, most: usize) -> Backtrace {
        self.backtrace(state.registers(), most, &mut |address, buffer| state.read(address, buffer))
    }

    /// The same without the functions that have left the stack. For those debug information is needed, which takes time to
    /// read; for these call frame information alone.
    pub fn stack_of(&self, state: &State<'_>, most: usize) -> Backtrace {
        let read = &mut |address, buffer: &mut [u8]| state.read(address, buffer);
        unwind::backtrace(self, state.registers(), most, &mut Memory { read }, |_, _| Vec::new())
    }

    /// The functions that a frame is in, innermost first: all but the last are inlined into the next. Each has
    /// its name, its position, and the variables that can be seen there. Empty without debug information.
    pub fn calls_at(&self, frame: &Frame) -> Vec<Call> {
        let Some((object, bias)) = self.object_at(frame.lookup) else { return Vec::new() };
        let Some((info, types)) = self.debug(object) else { return Vec::new() };
        variables::calls(info, &types, frame.lookup.wrapping_sub(bias))
    }

    /// All blocks of the function at an address, with what is declared in each; empty without debug information.
    pub fn blocks_of(&self, address: u64) -> Vec<Block> {
        let Some((object, bias)) = self.object_at(address) else { return Vec::new() };
        let Some((info, types)) = self.debug(object) else { return Vec::new() };
        let function = info.function_at(address.wrapping_sub(bias));
        function.map(|function| variables::blocks(&types, &function, bias)).unwrap_or_default()
    }

    /// The type of what the function at an address returns; `None` for one that returns nothing, and without debug information.
    pub fn returned_at(&self, address: u64) -> Option<TypeId> {
        let (object, bias) = self.object_at(address)?;
        let (info, types) = self.debug(object)?;
        let function = info.function_at(address.wrapping_sub(bias))?;
        // A definition leaves to its declaration what that says already.
        function.chain().iter().find_map(Entry::typed).map(|die| types.id(die))
    }

    /// Definitions of the named types that the types of some variables are made of, by name.
    pub fn definitions_for<'a>(
        &self,
        variables: impl IntoIterator<Item = &'a Variable>,
    ) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let ids: Vec<TypeId> = variables.into_iter().filter_map(|variable| variable.of).collect();
        for object in 0..self.objects.len() as u32 {
            let here: Vec<TypeId> = ids.iter().copied().filter(|id| id.object == object).collect();
            if !here.is_empty()
                && let Some((_, types)) = self.debug(object)
            {
                found.extend(types.definitions(&here));
            }
        }
        found
    }

    /// All variables outside of functions, in all objects, those of each object in the order of its file.
    pub fn globals(&self) -> Vec<Variable> {
        let objects = 0..self.objects.len() as u32;
        objects
            .filter_map(|object| self.debug(object))
            .flat_map(|(_, types)| {
                let all = types.debug.names().all_variables().iter();
                all.filter_map(|die| variables::global(&types, *die)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The variables outside of functions that have this name, with its namespaces.
    pub fn find_globals(&self, name: &str) -> Vec<Variable> {
        let objects = 0..self.objects.len() as u32;
        objects
            .filter_map(|object| self.debug(object))
            .flat_map(|(_, types)| {
                let found = types.debug.names().variables(name).iter();
                found.filter_map(|die| variables::global(&types, *die)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The variables outside of functions of the unit that a frame's code belongs to.
    pub fn unit_globals(&self, frame: &Frame) -> Vec<Variable> {
        let Some((object, bias)) = self.object_at(frame.lookup) else { return Vec::new() };
        let Some((info, types)) = self.debug(object) else { return Vec::new() };
        let unit = info.unit_at(frame.lookup.wrapping_sub(bias)).and_then(|unit| types.debug.handle(unit));
        let all = types.debug.names().all_variables().iter();
        all.filter(|die| Some(die.unit) == unit).filter_map(|die| variables::global(&types, *die)).collect()
    }

    /// The variable that a name means in a frame: the function's, then its unit's, then anybody's.
    pub fn find_variable(&self, name: &str, frame: &Frame) -> Option<Variable> {
        let calls = self.calls_at(frame);
        if let Some(found) = calls.first().and_then(|call| call.variable(name)) {
            return Some(found.clone());
        }
        let mut found = self.find_globals(name);
        let unit = calls
            .iter()
            .flat_map(Call::variables)
            .next()
            .map(|variable| (variable.object, variable.die.unit));
        let in_unit = found.iter().position(|variable| Some((variable.object, variable.die.unit)) == unit);
        if found.is_empty() { None } else { Some(found.swap_remove(in_unit.unwrap_or(0))) }
    }

    /// The first type that has this name, with its namespaces and without `struct`.
    pub fn find_type(&self, name: &str) -> Option<TypeId> {
        let objects = 0..self.objects.len() as u32;
        objects
            .filter_map(|object| self.debug(object))
            .find_map(|(_, types)| types.debug.names().types(name).first().map(|die| types.id(*die)))
    }

    /// What a type is.
    pub fn type_of(&self, id: TypeId) -> Option<Arc<Type>> {
        Some(self.types(id)?.get(id))
    }

    /// A type as a cast has it: `struct node *`.
    pub fn type_name(&self, id: Option<TypeId>) -> String {
        id.and_then(|id| self.types(id)).map_or_else(|| "void".to_owned(), |types| types.name(id))
    }

    /// A type as the declaration of a variable has it: `int table[3]`.
    pub fn declaration(&self, id: Option<TypeId>, variable: &str) -> String {
        let types = id.and_then(|id| self.types(id));
        types.map_or_else(|| format!("void {variable}"), |types| types.declaration(id, variable))
    }

    /// A type with its members.
    pub fn type_definition(&self, id: Option<TypeId>) -> String {
        id.and_then(|id| self.types(id)).map_or_else(|| "void".to_owned(), |types| types.definition(id))
    }

    /// The name and the definition of a variable's type in a stopped guest, where arrays have a length that
    /// was unknown before.
    pub fn type_of_variable(
        &self,
        variable: &Variable,
        frame: Option<&Frame>,
        state: &State<'_>,
    ) -> (String, String) {
        let evaluator = self.evaluator(variable, frame, state);
        let count = |die: Die| evaluator.as_ref()?.count(die);
        let Some((_, types)) = self.debug(variable.object) else {
            return (self.type_name(variable.of), self.type_definition(variable.of));
        };
        let types = types.with_counts(&count);
        (types.name(variable.of), types.definition(variable.of))
    }

    /// Where a variable is. `frame` is the one that the variable was found in; globals need none.
    pub fn place_of(&self, variable: &Variable, frame: Option<&Frame>, state: &State<'_>) -> Place {
        match self.evaluator(variable, frame, state) {
            Some(evaluator) => evaluator.place(variable),
            None => Place::OptimizedOut,
        }
    }

    /// The value of a variable as text, `<optimized out>` and the like included.
    pub fn print_variable(
        &self,
        variable: &Variable,
        frame: Option<&Frame>,
        state: &State<'_>,
        limits: Limits,
    ) -> String {
        let place = self.place_of(variable, frame, state);
        let Some((_, types)) = self.debug(variable.object) else { return "<optimized out>".to_owned() };
        let printer = Printer::new(self, state, self.evaluator(variable, frame, state), limits);
        let size = printer.size(&types, variable.of).unwrap_or(0);
        let contents = Contents::read(&place, size, frame, state);
        if let Err(NoContents::Failed(reason)) = contents {
            return format!("<error reading variable {} ({reason})>", variable.name);
        }
        printer.print(&types, variable.of, &contents)
    }

    /// The value of a type at a place, as text.
    pub fn print_value(
        &self,
        of: TypeId,
        place: &Place,
        frame: Option<&Frame>,
        state: &State<'_>,
        limits: Limits,
    ) -> String {
        let Some(types) = self.types(of) else { return "<error: unknown type>".to_owned() };
        let printer = Printer::new(self, state, None, limits);
        let size = printer.size(&types, Some(of)).unwrap_or(0);
        let contents = Contents::read(place, size, frame, state);
        printer.print(&types, Some(of), &contents)
    }

    /// The value of a variable, taken apart.
    pub fn value_of(&self, variable: &Variable, frame: Option<&Frame>, state: &State<'_>) -> Value {
        let unknown = |reason: String| Value { of: variable.of, kind: ValueKind::Unknown(reason) };
        let place = self.place_of(variable, frame, state);
        let Some((_, types)) = self.debug(variable.object) else {
            return unknown("<optimized out>".to_owned());
        };
        let printer = Printer::new(self, state, self.evaluator(variable, frame, state), Limits::default());
        let size = printer.size(&types, variable.of).unwrap_or(0);
        match Contents::read(&place, size, frame, state) {
            Ok(contents) => {
                let counts = |dimensions: &[crate::types::Dimension]| printer.counts(dimensions);
                Builder { types, counts: &counts, parts: 0 }.value(variable.of, &contents, 0, 0)
            }
            Err(reason) => unknown(reason.text()),
        }
    }
}

/// What the rooms of this crate ask each other.
impl Program {
    /// Where an object is loaded.
    pub(crate) fn bias_of(&self, object: u32) -> Option<u64> {
        let file = self.objects.get(usize::try_from(object).ok()?)?;
        let found = self.mappings.iter().find(|mapping| mapping.file == object as usize)?;
        mapping::bias(&self.mappings, found, file, found.start)
    }

    pub(crate) fn debug(&self, object: u32) -> Option<(&DebugInfo, Types<'_>)> {
        let info = self.objects.get(usize::try_from(object).ok()?)?.debug_info()?;
        Some((info, Types::new(info.debug(), object, &info.types)))
    }

    pub(crate) fn types(&self, id: TypeId) -> Option<Types<'_>> {
        self.debug(id.object).map(|(_, types)| types)
    }

    fn evaluator<'a>(
        &'a self,
        variable: &Variable,
        frame: Option<&'a Frame>,
        state: &'a State<'a>,
    ) -> Option<Evaluator<'a>> {
        let (_, types) = self.debug(variable.object)?;
        let bias = self.bias_of(variable.object)?;
        Some(Evaluator {
            program: self,
            state,
            frame,
            object: variable.object,
            debug: types.debug,
            bias,
            address: frame.map(|frame| frame.lookup.wrapping_sub(bias)),
            function: variable.function,
            depth: 0,
        })
    }

    /// The frame of the function that called the one of this frame, whether it is on the stack or has left it.
    pub(crate) fn caller(&self, frame: &Frame, state: &State<'_>) -> Option<Frame> {
        let mut read = |address, buffer: &mut [u8]| state.read(address, buffer);
        let caller = unwind::caller(self, frame, &mut Memory { read: &mut read }).ok()?;
        Some(self.left_frames(frame, &caller).into_iter().next().unwrap_or(caller))
    }

    /// The function whose code is at an address, and the bias of its object.
    pub(crate) fn function_entry(&self, address: u64) -> Option<(Entry<'_>, u64)> {
        let (object, bias) = self.object_at(address)?;
        let (info, _) = self.debug(object)?;
        Some((info.function_at(address.wrapping_sub(bias))?, bias))
    }

    /// What the stack pointer was before the call that made this frame.
    pub(crate) fn frame_address(&self, frame: &Frame, state: &State<'_>) -> Option<u64> {
        let (object, bias) = self.place(frame.lookup)?;
        let mut read = |address, buffer: &mut [u8]| state.read(address, buffer);
        let mut memory = Memory { read: &mut read };
        let found =
            object.call_frames().caller(frame.lookup.wrapping_sub(bias), bias, &frame.registers, &mut memory);
        found?.registers.rsp()
    }

    /// How far below the thread pointer an executable's thread-local variables begin.
    pub(crate) fn thread_local_size(&self, object: u32) -> Option<u64> {
        self.objects.get(usize::try_from(object).ok()?)?.thread_local_size()
    }

    /// The symbol at an address, with the distance from it.
    pub(crate) fn symbol_text(&self, address: u64) -> Option<String> {
        let (object, bias) = self.place(address)?;
        let in_object = address.wrapping_sub(bias);
        let distance = |name: String, start: u64| match in_object.wrapping_sub(start) {
            0 => name,
            offset => format!("{name}+{offset}"),
        };
        let symbol = object.symbols().at(object, in_object);
        // Marks that the linker sets in data name no data.
        let Some(symbol) = symbol.filter(|symbol| symbol.has_size || object.is_code(in_object)) else {
            let (start, name) = object.relocations().call_slot(object, in_object)?;
            return Some(distance(format!("{name}@got[plt]"), start));
        };
        let start = symbol.address.wrapping_add(bias);
        let function = || self.function_at_symbol(object.is_code(in_object).then_some(address)?, start);
        let name = function().or_else(|| demangle_whole(symbol.name));
        let name = name.unwrap_or_else(|| without_number(symbol.name).to_owned());
        Some(distance(name, symbol.address))
    }

    /// The name of a function by debug information, where it is better than that of the symbol at `start`: mangled names of
    /// Rust's functions lack the types that tell instances apart, and of several symbols for a C function it is the one that
    /// the function was compiled by.
    fn function_at_symbol(&self, address: u64, start: u64) -> Option<String> {
        let (function, bias) = self.function_entry(address)?;
        let starts_there =
            || function.ranges().first().is_some_and(|range| range.begin.wrapping_add(bias) == start);
        let unit = function.die.unit;
        let is_better = function.debug.is_rust(unit) || !function.debug.qualifies(unit) && starts_there();
        is_better.then(|| function.qualified_name())?
    }

    /// Type and contents of a static member that is declared in a class.
    pub(crate) fn static_member(
        &self,
        types: &Types<'_>,
        die: Die,
        state: &State<'_>,
    ) -> Option<(Option<TypeId>, Result<Contents, NoContents>)> {
        let name = types.debug.entry(die)?.qualified_name()?;
        let found = types.debug.names().variables(&name).first()?;
        let variable = variables::global(types, *found)?;
        let place = self.place_of(&variable, None, state);
        let size = types.size(variable.of).unwrap_or(0);
        Some((variable.of, Contents::read(&place, size, None, state)))
    }
}

/// The name of a static variable of a function without the number that the compiler gave it, as in `table.0`.
fn without_number(name: &str) -> &str {
    match name.split_once('.') {
        Some((stem, number)) if !stem.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}
