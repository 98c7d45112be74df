//! What solvers say. Nothing is expected of it: any bytes are an expression, or none yet, or none at all.

use crate::solver::Script;

/// Deeper nesting than any answer has.
const DEEPEST: usize = 64;

/// An S-expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A symbol, a number or a keyword; without the bars of a quoted symbol.
    Atom(String),
    Text(String),
    List(Vec<Expression>),
}

impl Expression {
    fn atom(&self) -> Option<&str> {
        match self {
            Expression::Atom(atom) => Some(atom),
            Expression::Text(_) | Expression::List(_) => None,
        }
    }

    fn list(&self) -> Option<&[Expression]> {
        match self {
            Expression::List(list) => Some(list),
            Expression::Atom(_) | Expression::Text(_) => None,
        }
    }

    /// For a message: one line, not too long.
    pub fn shortened(&self) -> String {
        const MOST: usize = 100;
        let mut text = match self {
            Expression::Atom(atom) => atom.clone(),
            Expression::Text(text) => format!("\"{text}\""),
            Expression::List(list) => {
                let parts: Vec<String> = list.iter().take(8).map(Expression::shortened).collect();
                format!("({})", parts.join(" "))
            }
        };
        text = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.chars().count() > MOST {
            text = text.chars().take(MOST).chain(['…']).collect();
        }
        text
    }
}

/// Puts expressions together from the bytes of an answer, as they come.
#[derive(Debug, Default)]
pub struct Reader {
    open: Vec<Vec<Expression>>,
    token: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Atom,
    Quoted,
    Text,
    /// After a quote within a text: the end of it, unless another follows.
    TextQuote,
    Comment,
}

/// Bytes that are no S-expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Reader {
    /// Takes one more byte; gives the expression that ended before it or with it.
    pub fn take(&mut self, byte: u8) -> Result<Option<Expression>, Malformed> {
        let is_blank = byte.is_ascii_whitespace();
        match self.state {
            State::Between => self.begin(byte),
            State::Atom if is_blank || matches!(byte, b'(' | b')' | b';' | b'"') => {
                let atom = Expression::Atom(self.token());
                self.state = State::Between;
                match self.done(atom) {
                    // Outside of lists an atom ends with its line; what follows at once is read by the next call.
                    Some(whole) if is_blank => Ok(Some(whole)),
                    Some(_) => Err(Malformed("a word and what follows it are not set apart")),
                    None => self.begin(byte),
                }
            }
            State::Quoted if byte == b'|' => {
                self.state = State::Between;
                let atom = Expression::Atom(self.token());
                Ok(self.done(atom))
            }
            State::Text if byte == b'"' => {
                self.state = State::TextQuote;
                Ok(None)
            }
            State::TextQuote if byte == b'"' => {
                self.state = State::Text;
                self.token.push(byte);
                Ok(None)
            }
            State::TextQuote => {
                self.state = State::Between;
                let text = Expression::Text(self.token());
                match self.done(text) {
                    Some(whole) if is_blank => Ok(Some(whole)),
                    Some(_) => Err(Malformed("a text and what follows it are not set apart")),
                    None => self.begin(byte),
                }
            }
            State::Comment => {
                if byte == b'\n' {
                    self.state = State::Between;
                }
                Ok(None)
            }
            State::Atom | State::Quoted | State::Text => {
                self.token.push(byte);
                Ok(None)
            }
        }
    }

    /// No more bytes will come: the expression that this ends.
    pub fn finish(&mut self) -> Option<Expression> {
        self.take(b'\n').ok().flatten()
    }

    fn begin(&mut self, byte: u8) -> Result<Option<Expression>, Malformed> {
        match byte {
            b'(' if self.open.len() >= DEEPEST => return Err(Malformed("too many parentheses")),
            b'(' => self.open.push(Vec::new()),
            b')' => {
                let list = self.open.pop().ok_or(Malformed("a parenthesis that closes nothing"))?;
                return Ok(self.done(Expression::List(list)));
            }
            b'|' => self.state = State::Quoted,
            b'"' => self.state = State::Text,
            b';' => self.state = State::Comment,
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                self.token.push(byte);
                self.state = State::Atom;
            }
        }
        Ok(None)
    }

    fn token(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.token)).into_owned()
    }

    /// Puts an expression into the list that is open; gives it back if there is none.
    fn done(&mut self, expression: Expression) -> Option<Expression> {
        match self.open.last_mut() {
            Some(list) => {
                list.push(expression);
                None
            }
            None => Some(expression),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Sat,
    Unsat,
    Unknown,
}

pub fn status(reply: &Expression) -> Option<Status> {
    match reply.atom()? {
        "sat" => Some(Status::Sat),
        "unsat" => Some(Status::Unsat),
        "unknown" => Some(Status::Unknown),
        _ => None,
    }
}

/// What solvers may say to an option that they do not have, and to one that they have.
pub fn is_acknowledgement(reply: &Expression) -> bool {
    matches!(reply.atom(), Some("success" | "unsupported"))
}

/// The name of a constraint in a script.
pub fn core_name(number: usize) -> String {
    format!("c{number}")
}

/// Which of so many constraints a core names, lowest first.
pub fn core(reply: &Expression, constraints: usize) -> Option<Vec<usize>> {
    let number = |name: &Expression| {
        let number: usize = name.atom()?.strip_prefix('c')?.parse().ok()?;
        (number < constraints).then_some(number)
    };
    let mut core: Vec<usize> = reply.list()?.iter().map(number).collect::<Option<_>>()?;
    core.sort_unstable();
    core.dedup();
    Some(core)
}

/// The values of all variables, which have so many bits each.
pub fn values(reply: &Expression, widths: &[u32]) -> Option<Vec<u128>> {
    let mut values = vec![None; widths.len()];
    for pair in reply.list()? {
        let [name, value] = pair.list()? else { return None };
        let place: usize = name.atom()?.strip_prefix('v')?.parse().ok()?;
        *values.get_mut(place)? = Some(bits(value, *widths.get(place)?)?);
    }
    debug_assert_eq!(Script::variable_name(0), "v0");
    values.into_iter().collect()
}

/// `#b…`, `#x…` or `(_ bv… width)`.
fn bits(value: &Expression, width: u32) -> Option<u128> {
    let number = match value {
        Expression::Atom(atom) => {
            if let Some(digits) = atom.strip_prefix("#b") {
                u128::from_str_radix(digits, 2).ok()?
            } else {
                u128::from_str_radix(atom.strip_prefix("#x")?, 16).ok()?
            }
        }
        Expression::List(parts) => match parts.as_slice() {
            [underscore, number, _] if underscore.atom() == Some("_") => {
                number.atom()?.strip_prefix("bv")?.parse().ok()?
            }
            _ => return None,
        },
        Expression::Text(_) => return None,
    };
    (number <= u128::MAX >> (128 - width)).then_some(number)
}

/// The reason in `(:reason-unknown …)`.
pub fn reason(reply: &Expression) -> String {
    match reply.list() {
        Some([_, Expression::Atom(reason) | Expression::Text(reason)]) => reason.clone(),
        _ => reply.shortened(),
    }
}
