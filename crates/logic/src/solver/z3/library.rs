//! The C functions of Z3 that are used, found in the library when it is opened, so that neither building nor starting needs it.
//!
//! All that is unsafe about Z3 is in this file. A [`Context`] owns everything that was made in it and is used by one thread at a time; objects of Z3 do not
//! leave it. Contexts are made without reference counts on expressions: those that we make live as long as the context, others as long as what they are in.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

/// An object of Z3: each is a pointer that only Z3 looks behind.
type Object = *mut c_void;

/// Z3_OK
const OK: c_uint = 0;
/// Z3_MEMOUT_FAIL
const OUT_OF_MEMORY: c_uint = 7;

/// Names each function once, with its type.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            /// The library is Z3, whose functions of these names have these types.
            unsafe fn find(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: by the caller's promise the symbol is a function of this type. The pointer is kept beside the library.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0")) }?,)*
                })
            }
        }
    };
}

functions! {
    Z3_global_param_set(*const c_char, *const c_char);
    Z3_mk_config() -> Object;
    Z3_set_param_value(Object, *const c_char, *const c_char);
    Z3_del_config(Object);
    Z3_mk_context(Object) -> Object;
    Z3_del_context(Object);
    Z3_set_error_handler(Object, *const c_void);
    Z3_get_error_code(Object) -> c_uint;
    Z3_get_error_msg(Object, c_uint) -> *const c_char;
    Z3_parse_smtlib2_string(Object, *const c_char, c_uint, *const Object, *const Object, c_uint, *const Object, *const Object) -> Object;
    Z3_ast_vector_inc_ref(Object, Object);
    Z3_ast_vector_dec_ref(Object, Object);
    Z3_ast_vector_size(Object, Object) -> c_uint;
    Z3_ast_vector_get(Object, Object, c_uint) -> Object;
    Z3_mk_int_symbol(Object, c_int) -> Object;
    Z3_mk_string_symbol(Object, *const c_char) -> Object;
    Z3_mk_bool_sort(Object) -> Object;
    Z3_mk_bv_sort(Object, c_uint) -> Object;
    Z3_mk_const(Object, Object, Object) -> Object;
    Z3_mk_tactic(Object, *const c_char) -> Object;
    Z3_tactic_inc_ref(Object, Object);
    Z3_tactic_dec_ref(Object, Object);
    Z3_tactic_and_then(Object, Object, Object) -> Object;
    Z3_mk_solver_from_tactic(Object, Object) -> Object;
    Z3_solver_inc_ref(Object, Object);
    Z3_solver_dec_ref(Object, Object);
    Z3_solver_assert(Object, Object, Object);
    Z3_solver_assert_and_track(Object, Object, Object, Object);
    Z3_solver_check(Object, Object) -> c_int;
    Z3_solver_get_reason_unknown(Object, Object) -> *const c_char;
    Z3_solver_get_unsat_core(Object, Object) -> Object;
    Z3_solver_get_model(Object, Object) -> Object;
    Z3_model_inc_ref(Object, Object);
    Z3_model_dec_ref(Object, Object);
    Z3_model_eval(Object, Object, Object, bool, *mut Object) -> bool;
    Z3_get_numeral_string(Object, Object) -> *const c_char;
    Z3_get_ast_id(Object, Object) -> c_uint;
    Z3_solver_get_statistics(Object, Object) -> Object;
    Z3_stats_inc_ref(Object, Object);
    Z3_stats_dec_ref(Object, Object);
    Z3_stats_size(Object, Object) -> c_uint;
    Z3_stats_get_key(Object, Object, c_uint) -> *const c_char;
    Z3_stats_is_uint(Object, Object, c_uint) -> bool;
    Z3_stats_get_uint_value(Object, Object, c_uint) -> c_uint;
}

/// Z3, opened.
#[derive(Clone)]
pub struct Z3Library {
    functions: Arc<(Functions, Library)>,
}

/// What Z3 said when a call of it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    OutOfMemory,
    Other(String),
}

impl Z3Library {
    /// Opens the library of this file name.
    pub fn open(file: &str) -> Result<Z3Library, libloading::Error> {
        // SAFETY: to open a library runs its initialisers. Those of Z3 only set up its own memory; a user who has put something else there
        // under this name has that run as by any program that links to it.
        let library = unsafe { Library::new(file) }?;
        // SAFETY: functions of these names have these types in all versions of the library's major version, 4.
        let functions = unsafe { Functions::find(&library) }?;
        Ok(Z3Library { functions: Arc::new((functions, library)) })
    }

    /// Sets a parameter that holds for all contexts.
    pub fn set_global(&self, name: &CStr, value: &str) {
        let value = text(value);
        // SAFETY: both are texts that end in NUL; Z3 copies them.
        unsafe { (self.functions.0.Z3_global_param_set)(name.as_ptr(), value.as_ptr()) }
    }

    /// A context with these parameters.
    pub fn context(&self, parameters: &[(&CStr, &str)]) -> Context {
        let z3 = &self.functions.0;
        // SAFETY: the configuration is used between its making and its end, and is not needed by the context afterwards. No handler of errors
        // means that Z3 notes the error and returns.
        let context = unsafe {
            let config = (z3.Z3_mk_config)();
            for (name, value) in parameters {
                let value = text(value);
                (z3.Z3_set_param_value)(config, name.as_ptr(), value.as_ptr());
            }
            let context = (z3.Z3_mk_context)(config);
            (z3.Z3_del_config)(config);
            (z3.Z3_set_error_handler)(context, std::ptr::null());
            context
        };
        Context { library: self.clone(), context }
    }
}

/// A world of its own within Z3. It is not `Send`, as it holds a pointer.
pub struct Context {
    library: Z3Library,
    context: Object,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was made by `Z3_mk_context` and is used by nobody any more, as all objects borrow it.
        unsafe { (self.z3().Z3_del_context)(self.context) }
    }
}

/// An expression, alive as long as what it was taken from.
#[derive(Clone, Copy)]
pub struct Expression<'a> {
    object: Object,
    _owner: std::marker::PhantomData<&'a ()>,
}

/// A list of expressions, which live at least as long as it does.
pub struct Expressions<'a> {
    context: &'a Context,
    vector: Object,
}

impl Drop for Expressions<'_> {
    fn drop(&mut self) {
        // SAFETY: this is the count that was taken when it was made.
        unsafe { (self.context.z3().Z3_ast_vector_dec_ref)(self.context.context, self.vector) }
    }
}

impl Expressions<'_> {
    pub fn len(&self) -> usize {
        // SAFETY: the vector is alive.
        unsafe { (self.context.z3().Z3_ast_vector_size)(self.context.context, self.vector) as usize }
    }

    pub fn iter(&self) -> impl Iterator<Item = Expression<'_>> {
        (0..self.len()).map(|place| {
            // SAFETY: the vector is alive, and the place is below its size.
            let get = self.context.z3().Z3_ast_vector_get;
            expression(unsafe { get(self.context.context, self.vector, place as c_uint) })
        })
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Sat,
    Unsat,
    Unknown,
}

impl Context {
    fn z3(&self) -> &Functions {
        &self.library.functions.0
    }

    /// What a call returned, unless Z3 noted an error.
    fn checked<T>(&self, result: T) -> Result<T, Failure> {
        // SAFETY: the context is alive, and the message is a text of it that is copied at once.
        unsafe {
            match (self.z3().Z3_get_error_code)(self.context) {
                OK => Ok(result),
                OUT_OF_MEMORY => Err(Failure::OutOfMemory),
                code => Err(Failure::Other(copied((self.z3().Z3_get_error_msg)(self.context, code)))),
            }
        }
    }

    fn object(&self, object: Object) -> Result<Object, Failure> {
        let object = self.checked(object)?;
        match NonNull::new(object) {
            Some(object) => Ok(object.as_ptr()),
            None => Err(Failure::Other("no object was made".to_owned())),
        }
    }

    /// The assertions of a script.
    pub fn parse(&self, script: &str) -> Result<Expressions<'_>, Failure> {
        let (z3, none) = (self.z3(), std::ptr::null());
        let script = text(script);
        // SAFETY: the text ends in NUL, and the other lists are empty. What comes back is a vector of expressions.
        unsafe {
            let parsed =
                (z3.Z3_parse_smtlib2_string)(self.context, script.as_ptr(), 0, none, none, 0, none, none);
            Ok(self.vector(self.object(parsed)?))
        }
    }

    /// # Safety
    /// It is a vector of expressions of this context.
    unsafe fn vector(&self, vector: Object) -> Expressions<'_> {
        // SAFETY: by the caller's promise.
        unsafe { (self.z3().Z3_ast_vector_inc_ref)(self.context, vector) };
        Expressions { context: self, vector }
    }

    /// A constant of so many bits with this name.
    pub fn bits_constant(&self, name: &str, width: u32) -> Result<Expression<'_>, Failure> {
        let (z3, name) = (self.z3(), text(name));
        // SAFETY: symbol and sort are of this context; Z3 copies the text.
        let constant = unsafe {
            let symbol = (z3.Z3_mk_string_symbol)(self.context, name.as_ptr());
            (z3.Z3_mk_const)(self.context, symbol, (z3.Z3_mk_bv_sort)(self.context, width))
        };
        Ok(expression(self.object(constant)?))
    }

    /// A truth value whose name is a number, as no name of a script is.
    fn label(&self, number: usize) -> Result<Expression<'_>, Failure> {
        let (z3, number) = (self.z3(), c_int::try_from(number).unwrap_or(c_int::MAX));
        // SAFETY: symbol and sort are of this context.
        let label = unsafe {
            let symbol = (z3.Z3_mk_int_symbol)(self.context, number);
            (z3.Z3_mk_const)(self.context, symbol, (z3.Z3_mk_bool_sort)(self.context))
        };
        Ok(expression(self.object(label)?))
    }

    /// A number by which expressions of this context can be compared.
    fn id(&self, of: Expression<'_>) -> c_uint {
        // SAFETY: the expression is one of this context.
        unsafe { (self.z3().Z3_get_ast_id)(self.context, of.object) }
    }

    /// A solver that applies these tactics in turn.
    pub fn solver(&self, tactics: &[&CStr]) -> Result<ContextSolver<'_>, Failure> {
        let z3 = self.z3();
        let mut all: Option<Object> = None;
        // SAFETY: all objects are of this context. Each has a count until what is made of it has its own.
        unsafe {
            for name in tactics {
                let tactic = self.object((z3.Z3_mk_tactic)(self.context, name.as_ptr()))?;
                (z3.Z3_tactic_inc_ref)(self.context, tactic);
                all = Some(match all {
                    None => tactic,
                    Some(first) => {
                        let both = self.object((z3.Z3_tactic_and_then)(self.context, first, tactic))?;
                        (z3.Z3_tactic_inc_ref)(self.context, both);
                        (z3.Z3_tactic_dec_ref)(self.context, first);
                        (z3.Z3_tactic_dec_ref)(self.context, tactic);
                        both
                    }
                });
            }
            let all = all.ok_or_else(|| Failure::Other("no tactic".to_owned()))?;
            let solver = self.object((z3.Z3_mk_solver_from_tactic)(self.context, all))?;
            (z3.Z3_solver_inc_ref)(self.context, solver);
            (z3.Z3_tactic_dec_ref)(self.context, all);
            Ok(ContextSolver { context: self, solver, labels: Vec::new() })
        }
    }
}

/// A solver of a context.
pub struct ContextSolver<'a> {
    context: &'a Context,
    solver: Object,
    /// The labels of what is tracked, by their ids.
    labels: Vec<(c_uint, usize)>,
}

impl Drop for ContextSolver<'_> {
    fn drop(&mut self) {
        // SAFETY: this is the count that was taken when it was made.
        unsafe { (self.context.z3().Z3_solver_dec_ref)(self.context.context, self.solver) }
    }
}

impl<'a> ContextSolver<'a> {
    /// The solver keeps what is asserted.
    pub fn assert(&mut self, constraint: Expression<'_>) -> Result<(), Failure> {
        let context = self.context;
        // SAFETY: both are of the context.
        unsafe { (context.z3().Z3_solver_assert)(context.context, self.solver, constraint.object) };
        context.checked(())
    }

    /// An assertion that a core may name by this number.
    pub fn assert_tracked(&mut self, constraint: Expression<'_>, number: usize) -> Result<(), Failure> {
        let context = self.context;
        let label = context.label(number)?;
        self.labels.push((context.id(label), number));
        // SAFETY: all are of the context.
        unsafe {
            let track = context.z3().Z3_solver_assert_and_track;
            track(context.context, self.solver, constraint.object, label.object);
        }
        context.checked(())
    }

    pub fn check(&mut self) -> Result<Found, Failure> {
        let context = self.context;
        // SAFETY: the solver is alive.
        let found = unsafe { (context.z3().Z3_solver_check)(context.context, self.solver) };
        Ok(match context.checked(found)? {
            1 => Found::Sat,
            -1 => Found::Unsat,
            _ => Found::Unknown,
        })
    }

    /// Why the last check found nothing.
    pub fn reason_unknown(&self) -> String {
        let context = self.context;
        // SAFETY: the solver is alive; the text is copied at once.
        unsafe { copied((context.z3().Z3_solver_get_reason_unknown)(context.context, self.solver)) }
    }

    /// The numbers of assertions that cannot hold together, after a check that found so, lowest first.
    pub fn core(&self) -> Result<Vec<usize>, Failure> {
        let context = self.context;
        // SAFETY: the solver is alive, and its core is a vector of expressions of the context.
        let core = unsafe {
            let core = (context.z3().Z3_solver_get_unsat_core)(context.context, self.solver);
            context.vector(context.object(core)?)
        };
        let number = |label: Expression<'_>| {
            let id = context.id(label);
            self.labels.iter().find(|(other, _)| *other == id).map(|(_, number)| *number)
        };
        let mut core: Vec<usize> = core.iter().filter_map(number).collect();
        core.sort_unstable();
        Ok(core)
    }

    /// The values of constants, after a check that found some: decimal numbers.
    pub fn values(&self, constants: &[Expression<'a>]) -> Result<Vec<String>, Failure> {
        let (context, z3) = (self.context, self.context.z3());
        // SAFETY: the model is alive between the two counts, and all else is of the context; texts are copied at once.
        unsafe {
            let model = context.object((z3.Z3_solver_get_model)(context.context, self.solver))?;
            (z3.Z3_model_inc_ref)(context.context, model);
            let value = |constant: &Expression<'a>| {
                let mut value: Object = std::ptr::null_mut();
                (z3.Z3_model_eval)(context.context, model, constant.object, true, &mut value);
                let value = context.object(value)?;
                let text = (z3.Z3_get_numeral_string)(context.context, value);
                Ok(copied(context.checked(text)?))
            };
            let values = constants.iter().map(value).collect();
            (z3.Z3_model_dec_ref)(context.context, model);
            values
        }
    }

    /// A figure about the work done.
    pub fn statistic(&self, name: &str) -> Option<u32> {
        let (context, z3) = (self.context, self.context.z3());
        // SAFETY: the statistics are alive between the two counts, and places are below their size.
        unsafe {
            let all = context.object((z3.Z3_solver_get_statistics)(context.context, self.solver)).ok()?;
            (z3.Z3_stats_inc_ref)(context.context, all);
            let size = (z3.Z3_stats_size)(context.context, all);
            let found = (0..size)
                .find(|place| copied((z3.Z3_stats_get_key)(context.context, all, *place)) == name)
                .filter(|place| (z3.Z3_stats_is_uint)(context.context, all, *place))
                .map(|place| (z3.Z3_stats_get_uint_value)(context.context, all, place));
            (z3.Z3_stats_dec_ref)(context.context, all);
            found
        }
    }
}

fn expression<'a>(object: Object) -> Expression<'a> {
    Expression { object, _owner: std::marker::PhantomData }
}

/// For C. Our texts have no NUL within; one that had would be cut there.
fn text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// # Safety
/// It is null or a text that ends in NUL.
unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
