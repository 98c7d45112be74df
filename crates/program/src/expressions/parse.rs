//! From words to a tree, by C's precedence.

use super::SyntaxError;
use super::numbers::{Basic, Number};
use super::shape::standard;
use super::syntax::{BinaryOperator, Node, NodeKind, TypeBase, TypeText, UnaryOperator};
use super::token::{Token, Word, tokens};

/// Nobody writes longer ones by hand.
const LONGEST: usize = 1 << 14;
/// Expressions inside of each other; the parser and its users recurse.
const DEEPEST: usize = 64;
/// Operators one after the other make trees that are as deep.
const MOST_OPERATORS: usize = 256;

pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let text = text.trim();
    let fail = |message: &str| {
        let at = 0..text.len().min(1);
        Err(SyntaxError { text: text.chars().take(80).collect(), at, message: message.to_owned() })
    };
    if text.is_empty() {
        return fail("the expression is empty");
    }
    if text.len() > LONGEST {
        return fail("the expression is too long");
    }
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0, operators: 0 };
    let node = parser.choice()?;
    match parser.peek() {
        Word::End => Ok(node),
        Word::Sign("=") => Err(parser.wrong("`=` would assign; to compare, write `==`")),
        Word::Sign("++" | "--" | "+=" | "-=" | "*=" | "/=") => Err(parser.wrong("nothing can be changed")),
        Word::Sign("(") => Err(parser.wrong("functions cannot be called")),
        _ => Err(parser.wrong("an operator or the end is expected")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    operators: usize,
}

type Parsed = Result<Node, SyntaxError>;

impl Parser<'_> {
    fn peek(&self) -> &Word {
        self.word(0)
    }

    /// The word so many words on; there is an end behind all.
    fn word(&self, ahead: usize) -> &Word {
        self.tokens.get(self.next.saturating_add(ahead)).map_or(&Word::End, |token| &token.word)
    }

    fn start(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |token| token.at.start)
    }

    fn end(&self) -> usize {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.map_or(0, |token| token.at.end)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Word::Sign(found) if *found == sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.accept(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}` is expected"))) }
    }

    fn wrong(&self, message: &str) -> SyntaxError {
        let at =
            self.tokens.get(self.next).map_or(self.text.len()..self.text.len(), |token| token.at.clone());
        SyntaxError { text: self.text.to_owned(), at, message: message.to_owned() }
    }

    fn node(&self, start: usize, kind: NodeKind) -> Node {
        Node { at: start..self.end(), kind }
    }

    /// Goes one level deeper for what `inner` parses.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("the expression is nested too deeply"));
        }
        let node = inner(self);
        self.depth -= 1;
        node
    }

    fn count_operator(&mut self) -> Result<(), SyntaxError> {
        self.operators += 1;
        match self.operators > MOST_OPERATORS {
            true => Err(self.wrong("the expression has too many operators")),
            false => Ok(()),
        }
    }

    fn choice(&mut self) -> Parsed {
        self.deeper(|parser| {
            let start = parser.start();
            let condition = parser.binary(0)?;
            if !parser.accept("?") {
                return Ok(condition);
            }
            let one = parser.choice()?;
            parser.expect(":")?;
            let two = parser.choice()?;
            let kind = NodeKind::Choice(Box::new(condition), Box::new(one), Box::new(two));
            Ok(parser.node(start, kind))
        })
    }

    /// Operators that bind at least as strongly as `least`.
    fn binary(&mut self, least: u8) -> Parsed {
        let start = self.start();
        let mut left = self.unary()?;
        loop {
            let Word::Sign(sign) = self.peek() else { return Ok(left) };
            let sign = *sign;
            let Some(strength) = strength(sign).filter(|strength| *strength >= least) else {
                return Ok(left);
            };
            self.count_operator()?;
            self.next += 1;
            let right = Box::new(self.binary(strength + 1)?);
            let left_box = Box::new(left);
            let kind = match (sign, operator(sign)) {
                ("&&", _) => NodeKind::And(left_box, right),
                ("||", _) => NodeKind::Or(left_box, right),
                (_, Some(operator)) => NodeKind::Binary(operator, left_box, right),
                (_, None) => return Err(self.wrong("this operator is not known")),
            };
            left = self.node(start, kind);
        }
    }

    fn unary(&mut self) -> Parsed {
        self.deeper(|parser| {
            let start = parser.start();
            if let Word::Sign(sign) = *parser.peek() {
                let unary = match sign {
                    "-" => Some(UnaryOperator::Minus),
                    "+" => Some(UnaryOperator::Plus),
                    "!" => Some(UnaryOperator::Not),
                    "~" => Some(UnaryOperator::Complement),
                    _ => None,
                };
                if let Some(operator) = unary {
                    parser.next += 1;
                    let of = Box::new(parser.unary()?);
                    return Ok(parser.node(start, NodeKind::Unary(operator, of)));
                }
                match sign {
                    "*" | "&" => {
                        parser.next += 1;
                        let of = Box::new(parser.unary()?);
                        let kind = if sign == "*" { NodeKind::Deref(of) } else { NodeKind::Address(of) };
                        return Ok(parser.node(start, kind));
                    }
                    "++" | "--" => return Err(parser.wrong("nothing can be changed")),
                    "(" if parser.is_cast() => {
                        parser.next += 1;
                        let to = parser.type_text()?;
                        parser.expect(")")?;
                        let of = Box::new(parser.unary()?);
                        return Ok(parser.node(start, NodeKind::Cast(to, of)));
                    }
                    _ => {}
                }
            }
            if matches!(parser.peek(), Word::Name(name) if name == "sizeof") {
                return parser.size_of(start);
            }
            parser.postfix()
        })
    }

    fn size_of(&mut self, start: usize) -> Parsed {
        self.next += 1;
        let is_type = matches!(self.peek(), Word::Sign("("))
            && matches!(self.word(1), Word::Name(name) if is_type_word(name));
        if is_type {
            self.next += 1;
            let of = self.type_text()?;
            self.expect(")")?;
            return Ok(self.node(start, NodeKind::SizeOfType(of)));
        }
        let of = Box::new(self.unary()?);
        Ok(self.node(start, NodeKind::SizeOf(of)))
    }

    fn postfix(&mut self) -> Parsed {
        let start = self.start();
        let mut node = self.primary()?;
        loop {
            let kind = if self.accept("[") {
                let index = Box::new(self.choice()?);
                self.expect("]")?;
                NodeKind::Index { of: Box::new(node), index }
            } else if self.accept(".") || self.accept("->") {
                let Word::Name(name) = self.peek().clone() else {
                    return Err(self.wrong("the name of a member is expected"));
                };
                self.next += 1;
                NodeKind::Member { of: Box::new(node), name }
            } else {
                return Ok(node);
            };
            self.count_operator()?;
            node = self.node(start, kind);
        }
    }

    fn primary(&mut self) -> Parsed {
        let start = self.start();
        let kind = match self.peek().clone() {
            Word::Constant { value, of } => NodeKind::Constant { value, of },
            Word::Text(text) => NodeKind::Text(text),
            Word::Name(name) => named_constant(&name).unwrap_or(NodeKind::Name(name)),
            Word::Sign("(") => {
                self.next += 1;
                let inner = self.choice()?;
                self.expect(")")?;
                return Ok(self.node(start, inner.kind));
            }
            Word::End => return Err(self.wrong("something is missing at the end")),
            Word::Sign(_) => return Err(self.wrong("a name or a number is expected")),
        };
        self.next += 1;
        Ok(self.node(start, kind))
    }

    /// Whether the parenthesis here begins a cast. A name in parentheses is a type if what follows could not follow
    /// a value.
    fn is_cast(&self) -> bool {
        let Word::Name(name) = self.word(1) else { return false };
        if is_type_word(name) || standard(name).is_some() {
            return true;
        }
        let mut ahead = 2;
        while matches!(self.word(ahead), Word::Sign("*")) {
            ahead += 1;
        }
        let is_closed = matches!(self.word(ahead), Word::Sign(")"));
        let is_value_next = matches!(
            self.word(ahead + 1),
            Word::Name(_) | Word::Constant { .. } | Word::Text(_) | Word::Sign("(" | "!" | "~")
        );
        is_closed && (ahead > 2 || is_value_next)
    }

    fn type_text(&mut self) -> Result<TypeText, SyntaxError> {
        let mut words: Vec<String> = Vec::new();
        while let Word::Name(name) = self.peek().clone() {
            self.next += 1;
            if !matches!(name.as_str(), "const" | "volatile") {
                words.push(name);
            }
        }
        let base = base(&words).ok_or_else(|| self.wrong("this is no type"))?;
        let mut pointers = 0;
        loop {
            if self.accept("*") {
                pointers += 1;
            } else if matches!(self.peek(), Word::Name(name) if matches!(name.as_str(), "const" | "volatile"))
            {
                self.next += 1;
            } else {
                return Ok(TypeText { base, pointers });
            }
        }
    }
}

fn named_constant(name: &str) -> Option<NodeKind> {
    let value = match name {
        "true" => 1,
        "false" | "NULL" | "nullptr" => 0,
        _ => return None,
    };
    let of = if matches!(name, "NULL" | "nullptr") { Basic::LONG } else { Basic::INT };
    Some(NodeKind::Constant { value: Number::Integer(value), of })
}

fn is_type_word(name: &str) -> bool {
    const WORDS: [&str; 17] = [
        "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool",
        "struct", "union", "enum", "const", "volatile", "__int128",
    ];
    WORDS.contains(&name)
}

/// The type that some words name, in whatever order C allows.
fn base(words: &[String]) -> Option<TypeBase> {
    let count = |word: &str| words.iter().filter(|other| *other == word).count();
    match words {
        [tag, name] if matches!(tag.as_str(), "struct" | "union" | "enum") => {
            return Some(TypeBase::Named(name.clone()));
        }
        [name] if !is_type_word(name) => return Some(TypeBase::Named(name.clone())),
        [name] if name == "void" => return Some(TypeBase::Void),
        [] => return None,
        _ => {}
    }
    const ARITHMETIC: [&str; 11] = [
        "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool", "__int128",
    ];
    if words.iter().any(|word| !ARITHMETIC.contains(&word.as_str())) {
        return None;
    }
    let signed = count("unsigned") == 0;
    let size = match (count("char"), count("short"), count("long"), count("__int128")) {
        (1, ..) => 1,
        (_, 1, ..) => 2,
        (.., 1) => 16,
        (_, _, 1 | 2, _) => 8,
        _ => 4,
    };
    Some(TypeBase::Basic(match (count("double"), count("float"), count("bool") + count("_Bool")) {
        (1, 0, 0) if count("long") == 1 => Basic::LongDouble,
        (1, 0, 0) => Basic::Double,
        (0, 1, 0) => Basic::Float,
        (0, 0, 1) => Basic::Bool,
        (0, 0, 0) => Basic::Integer { size, signed },
        _ => return None,
    }))
}

fn strength(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | "<=" | ">" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn operator(sign: &str) -> Option<BinaryOperator> {
    use BinaryOperator as Op;
    Some(match sign {
        "+" => Op::Add,
        "-" => Op::Subtract,
        "*" => Op::Multiply,
        "/" => Op::Divide,
        "%" => Op::Remainder,
        "<<" => Op::ShiftLeft,
        ">>" => Op::ShiftRight,
        "&" => Op::BitAnd,
        "|" => Op::BitOr,
        "^" => Op::BitXor,
        "==" => Op::Equal,
        "!=" => Op::NotEqual,
        "<" => Op::Less,
        "<=" => Op::LessEqual,
        ">" => Op::Greater,
        ">=" => Op::GreaterEqual,
        _ => return None,
    })
}
