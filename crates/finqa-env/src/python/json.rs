//! Texts that clients know from Python: where its `json` module finds fault
//! with a text, and how a value looks in a message. No parsing for use: that
//! is serde_json's; how Python prints values is `env::python`'s.

use serde_json::Value;

use crate::python::repr_json;
pub(crate) use crate::python::type_name;

/// What Python's `json` says about a text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFault {
    /// The message without its position, e.g. `Expecting value`.
    pub message: &'static str,
    /// Position in characters from 0.
    pub position: usize,
    line: usize,
    column: usize,
}

impl std::fmt::Display for JsonFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: line {} column {} (char {})",
            self.message, self.line, self.column, self.position
        )
    }
}

/// Parses a JSON text; the error is worded and placed as Python's `json.loads`
/// words and places it. `NaN` and `Infinity`, which Python takes, are refused.
pub fn parse_json(text: &str) -> Result<Value, JsonFault> {
    serde_json::from_str(text).map_err(|_| {
        let mut scan = Scan {
            chars: text.chars().collect(),
            at: 0,
        };
        let (message, position) = match scan.document() {
            Err(fault) => fault,
            // Python takes it and serde_json does not: NaN, a lone surrogate,
            // a number beyond a double.
            Ok(()) => ("Value outside of standard JSON", 0),
        };
        let before = scan.chars.get(..position).unwrap_or(&scan.chars);
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
        JsonFault {
            message,
            position,
            line,
            column,
        }
    })
}

type Fault = (&'static str, usize);

/// Deeper than serde_json reads; also what keeps this scanner off the end of its stack.
const MAX_DEPTH: usize = 127;

struct Scan {
    chars: Vec<char>,
    at: usize,
}

impl Scan {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Result<(), Fault> {
        self.space();
        self.value(0)?;
        self.space();
        if self.at < self.chars.len() {
            return Err(("Extra data", self.at));
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(("Nested too deeply", self.at));
        }
        match self.peek() {
            Some('"') => {
                self.at += 1;
                self.string()
            }
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Result<(), Fault> {
        let start = self.at;
        for word in ["null", "true", "false", "NaN", "Infinity", "-Infinity"] {
            let end = start + word.len();
            if self
                .chars
                .get(start..end)
                .is_some_and(|c| c.iter().copied().eq(word.chars()))
            {
                self.at = end;
                return Ok(());
            }
        }
        if self.peek() == Some('-') {
            self.at += 1;
        }
        match self.peek() {
            Some('0') => self.at += 1,
            Some('1'..='9') => self.digits(),
            _ => return Err(("Expecting value", start)),
        }
        let whole = self.at;
        if self.peek() == Some('.') {
            self.at += 1;
            let first = self.at;
            self.digits();
            if self.at == first {
                self.at = whole;
                return Ok(());
            }
        }
        let mantissa = self.at;
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            let first = self.at;
            self.digits();
            if self.at == first {
                self.at = mantissa;
            }
        }
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some('0'..='9')) {
            self.at += 1;
        }
    }

    /// The position is behind the opening quote.
    fn string(&mut self) -> Result<(), Fault> {
        let open = self.at - 1;
        loop {
            match self.peek() {
                None => return Err(("Unterminated string starting at", open)),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => self.escape(open)?,
                Some(c) if c < ' ' => return Err(("Invalid control character at", self.at)),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self, open: usize) -> Result<(), Fault> {
        let backslash = self.at;
        self.at += 1;
        match self.peek() {
            None => Err(("Unterminated string starting at", open)),
            Some('u') => {
                let digits = self.chars.get(self.at + 1..self.at + 5);
                if !digits.is_some_and(|d| d.iter().all(char::is_ascii_hexdigit)) {
                    return Err(("Invalid \\uXXXX escape", self.at));
                }
                self.at += 5;
                Ok(())
            }
            Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(("Invalid \\escape", backslash)),
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        self.at += 1;
        self.space();
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            self.space();
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(',') => self.at += 1,
                _ => return Err(("Expecting ',' delimiter", self.at)),
            }
            self.space();
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        self.at += 1;
        self.space();
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some('"') {
                return Err(("Expecting property name enclosed in double quotes", self.at));
            }
            self.at += 1;
            self.string()?;
            self.space();
            if self.peek() != Some(':') {
                return Err(("Expecting ':' delimiter", self.at));
            }
            self.at += 1;
            self.space();
            self.value(depth + 1)?;
            self.space();
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(',') => self.at += 1,
                _ => return Err(("Expecting ',' delimiter", self.at)),
            }
            self.space();
        }
    }
}

/// Python's `repr` of a JSON value, shortened in the middle to 50 characters
/// as pydantic shortens it.
pub fn short_repr(value: &Value) -> String {
    let whole = repr_json(value);
    let length = whole.chars().count();
    if length <= 50 {
        return whole;
    }
    let head: String = whole.chars().take(25).collect();
    let tail: String = whole.chars().skip(length - 24).collect();
    format!("{head}...{tail}")
}

/// Python's `str` of a JSON value: a text as it is, anything else its `repr`.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr_json(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each expectation is what CPython 3.11 prints for `json.loads(text)`.
    #[test]
    fn faults_read_as_pythons() {
        for (text, said) in [
            ("", "Expecting value: line 1 column 1 (char 0)"),
            ("nope", "Expecting value: line 1 column 1 (char 0)"),
            (
                "{",
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            ),
            (
                "{'a':1}",
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            ),
            (
                "{\"a\":1,}",
                "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)",
            ),
            (
                "{\"a\" 1}",
                "Expecting ':' delimiter: line 1 column 6 (char 5)",
            ),
            (
                "{\"a\":\n1 2}",
                "Expecting ',' delimiter: line 2 column 3 (char 8)",
            ),
            ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
            (
                "\"abc",
                "Unterminated string starting at: line 1 column 1 (char 0)",
            ),
            ("{} {}", "Extra data: line 1 column 4 (char 3)"),
            ("\"\\x\"", "Invalid \\escape: line 1 column 2 (char 1)"),
            (
                "\"a\nb\"",
                "Invalid control character at: line 1 column 3 (char 2)",
            ),
            ("01", "Extra data: line 1 column 2 (char 1)"),
            ("[\u{e9}]", "Expecting value: line 1 column 2 (char 1)"),
        ] {
            let fault = parse_json(text).expect_err(text);
            assert_eq!(fault.to_string(), said, "{text:?}");
        }
    }

    #[test]
    fn what_python_takes_and_we_do_not_is_still_one_clear_fault() {
        assert!(parse_json("NaN").is_err());
        assert!(parse_json("[1e999]").is_err());
        let deep = "[".repeat(100_000);
        assert!(parse_json(&deep).is_err());
    }

    #[test]
    fn values_look_as_in_python() {
        let value = json!({"a": [1, 2.5, null, true], "b'": "it's \"x\"\n"});
        assert_eq!(
            display(&value),
            "{'a': [1, 2.5, None, True], \"b'\": 'it\\'s \"x\"\\n'}"
        );
        assert_eq!(display(&json!("plain")), "plain");
        let long = short_repr(&json!("x".repeat(100)));
        assert_eq!(long.chars().count(), 52);
    }
}
