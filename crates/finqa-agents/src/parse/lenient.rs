//! Reads the almost correct JSON that models write.
//!
//! This reader is used only if `serde_json` fails. It never splits a figure: `206,588` without
//! quotes is a single value. A value that was cut off is dropped instead of guessed.

use finqa_core::text::cut;
use serde_json::{Map, Value};

/// Maximum nesting. The reader is recursive, so deeper nesting could overflow the stack. Set by
/// hand: an analysis has three levels.
const MAX_DEPTH: usize = 64;

/// A value that was read. The text may have ended inside it.
pub(super) struct LenientJson {
    pub(super) value: Value,
    /// The offset of the value's end in the text.
    pub(super) end: usize,
    /// Name of the member that was dropped because the text ends inside its value.
    pub(super) cut_in: Option<String>,
    /// False if the text ends inside the value.
    pub(super) is_closed: bool,
}

/// The reason why a text cannot be read as JSON, and the byte at which reading stopped.
pub(super) struct Refusal {
    pub(super) offset: usize,
    pub(super) what: String,
}

/// Reads the value that starts at byte `start`; text after it is ignored.
pub(super) fn read(text: &str, start: usize) -> Result<LenientJson, Refusal> {
    let mut reader = LenientReader {
        text,
        pos: start,
        cut_in: None,
        is_closed: true,
    };
    match reader.value(0, FigurePlace::Member) {
        Ok(value) => Ok(LenientJson {
            value,
            end: reader.pos,
            cut_in: reader.cut_in,
            is_closed: reader.is_closed,
        }),
        Err(ReadStop::CutOff) => Err(Refusal {
            offset: text.len(),
            what: "the reply is cut off".to_string(),
        }),
        Err(ReadStop::Refused(refusal)) => Err(refusal),
    }
}

/// The reason why a value was not read to its end.
enum ReadStop {
    /// The text ended inside a value.
    CutOff,
    Refused(Refusal),
}

/// Whether an unquoted value is in an object or in a list. In a list, every comma separates items.
/// In an object, a comma may be part of a figure.
#[derive(Clone, Copy, PartialEq)]
enum FigurePlace {
    Member,
    Element,
}

/// The text, and the byte from which it is read next.
struct LenientReader<'a> {
    text: &'a str,
    pos: usize,
    cut_in: Option<String>,
    is_closed: bool,
}

impl<'a> LenientReader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self, c: char) {
        self.pos += c.len_utf8();
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, ReadStop> {
        Err(ReadStop::Refused(Refusal {
            offset: self.pos,
            what: what.into(),
        }))
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let trimmed = self.rest().trim_start();
            self.pos = self.text.len() - trimmed.len();
            let length = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.pos += length;
        }
    }

    /// Reads a value. `depth` is the number of lists and objects around it.
    ///
    /// # Errors
    /// `CutOff` if the text ends before or inside the value, unless the value is an object.
    fn value(&mut self, depth: usize, place: FigurePlace) -> Result<Value, ReadStop> {
        if depth > MAX_DEPTH {
            return self.refuse(format!("nested deeper than {MAX_DEPTH}"));
        }
        self.skip();
        match self.peek() {
            None => Err(ReadStop::CutOff),
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => self.string().map(Value::String),
            Some(',' | '}' | ']' | ':') => self.refuse("expected a value"),
            Some(_) => self.bare(place),
        }
    }

    /// Reads an object from its `{` on. If the text ends inside it, the object has the members that
    /// are complete, and `cut_in` names the one that is not.
    fn object(&mut self, depth: usize) -> Result<Value, ReadStop> {
        self.pos += 1;
        let mut map = Map::new();
        loop {
            self.skip();
            match self.peek() {
                None => return Ok(self.cut_object(map, None)),
                Some('}') => {
                    self.pos += 1;
                    return Ok(Value::Object(map));
                }
                Some(',') => {
                    self.pos += 1;
                    continue;
                }
                Some(_) => {}
            }
            let key = match self.key() {
                Ok(key) => key,
                Err(ReadStop::CutOff) => return Ok(self.cut_object(map, None)),
                Err(stop) => return Err(stop),
            };
            match self.value(depth + 1, FigurePlace::Member) {
                Ok(value) => map.insert(key, value),
                Err(ReadStop::CutOff) => return Ok(self.cut_object(map, Some(key))),
                Err(stop) => return Err(stop),
            };
            self.separator('}')?;
        }
    }

    /// Ends an object in which the text ends. `key` is the member whose value was cut off.
    fn cut_object(&mut self, map: Map<String, Value>, key: Option<String>) -> Value {
        // An inner object that was cut off has already named its member.
        self.cut_in = key.or_else(|| self.cut_in.take());
        self.is_closed = false;
        Value::Object(map)
    }

    /// Reads a list from its `[` on.
    ///
    /// # Errors
    /// `CutOff` if the text ends inside the list.
    fn array(&mut self, depth: usize) -> Result<Value, ReadStop> {
        self.pos += 1;
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                // Drop the list, because some of its items may have been cut off.
                None => return Err(ReadStop::CutOff),
                Some(']') => {
                    self.pos += 1;
                    return Ok(Value::Array(items));
                }
                // The `]` is missing before the end of the enclosing object.
                Some('}') => {
                    return Ok(Value::Array(items));
                }
                Some(',') => {
                    self.pos += 1;
                    continue;
                }
                Some(_) => {}
            }
            items.push(self.value(depth + 1, FigurePlace::Element)?);
            self.separator(']')?;
        }
    }

    /// Reads the text after a value. Consumes a comma, but not a closing bracket.
    fn separator(&mut self, close: char) -> Result<(), ReadStop> {
        self.skip();
        match self.peek() {
            // The caller meets the end of the text next.
            None => Ok(()),
            Some(c) if c == close => Ok(()),
            Some('}') if close == ']' => Ok(()),
            Some(',') => {
                self.pos += 1;
                Ok(())
            }
            Some(c) => self.refuse(format!("expected `,` or `{close}`, found `{c}`")),
        }
    }

    /// Reads a key and the colon after it. Returns the key without its quotes.
    fn key(&mut self) -> Result<String, ReadStop> {
        if self.peek() != Some('"') {
            return self.refuse("expected a key in double quotes");
        }
        let key = self.string()?;
        self.skip();
        match self.peek() {
            Some(':') => {
                self.pos += 1;
                Ok(key)
            }
            None => Err(ReadStop::CutOff),
            Some(c) => self.refuse(format!("expected `:` after the key `{key}`, found `{c}`")),
        }
    }

    /// Reads a quoted string. A quote ends it only if JSON structure follows (see `ends_string`).
    /// Any other quote is part of the text, and so is a line break.
    fn string(&mut self) -> Result<String, ReadStop> {
        self.pos += 1;
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.bump(c);
            if c == '"' {
                if self.ends_string() {
                    return Ok(out);
                }
                out.push(c);
            } else if c == '\\' {
                self.escape(&mut out)?;
            } else {
                out.push(c);
            }
        }
        Err(ReadStop::CutOff)
    }

    fn ends_string(&self) -> bool {
        let next = self.rest().trim_start();
        let is_comment = next.starts_with("//") || next.starts_with("/*");
        next.is_empty() || is_comment || next.starts_with([',', ':', '}', ']'])
    }

    /// Reads the character after a backslash, and adds to `out` the character that both mean. The
    /// backslash is dropped before a character that needs none.
    fn escape(&mut self, out: &mut String) -> Result<(), ReadStop> {
        let Some(c) = self.peek() else {
            return Err(ReadStop::CutOff);
        };
        self.bump(c);
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let mut code = self.hex();
                // A character outside the Basic Multilingual Plane is written as two surrogates.
                if let Some(high @ 0xd800..0xdc00) = code
                    && self.rest().starts_with("\\u")
                {
                    let before = self.pos;
                    self.pos += 2;
                    code = match self.hex() {
                        Some(low @ 0xdc00..0xe000) => {
                            Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                        }
                        _ => {
                            self.pos = before;
                            None
                        }
                    };
                }
                // A lone surrogate is not a character.
                out.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
            }
            // A quote, a backslash, or a character that does not need an escape, as in `\%`.
            _ => out.push(c),
        }
        Ok(())
    }

    /// Reads the four hexadecimal digits of a `\u` escape.
    fn hex(&mut self) -> Option<u32> {
        let code = u32::from_str_radix(self.rest().get(..4)?, 16).ok()?;
        self.pos += 4;
        Some(code)
    }

    /// Reads an unquoted value. It ends before the next structural character, line break or
    /// comment.
    fn bare(&mut self, place: FigurePlace) -> Result<Value, ReadStop> {
        let rest = self.rest();
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let stops = match c {
                '}' | ']' | '\n' => true,
                '/' => rest
                    .get(at + 1..)
                    .is_some_and(|next| next.starts_with(['/', '*'])),
                ',' => place == FigurePlace::Element || !separates_thousands(rest, at),
                _ => false,
            };
            if stops {
                end = at;
                break;
            }
        }
        // A value at the very end of the text may have been cut off, unless white space follows it.
        if end == rest.len() && !rest.ends_with(char::is_whitespace) {
            return Err(ReadStop::CutOff);
        }
        self.pos += end;
        let token = rest.get(..end).unwrap_or_default();
        Ok(match token.trim() {
            // Python writes `NaN` or `Infinity` for numbers that JSON does not have. They become
            // null, so that the answer around them is not lost.
            "null" | "None" | "NaN" | "Infinity" | "-Infinity" => Value::Null,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            token => {
                if let Ok(number) = serde_json::from_str::<serde_json::Number>(token) {
                    return Ok(Value::Number(number));
                }
                if !token.contains(|c: char| c.is_ascii_digit()) {
                    // The limit of 40 is set by hand: the message is one line.
                    return self.refuse(format!("`{}` is not in quotes", cut(token, 40, "…")));
                }
                Value::String(token.to_string())
            }
        })
    }
}

/// True if the comma at `at` is inside a figure such as `206,588`. It has one to three digits
/// before it and exactly three after it.
pub(super) fn separates_thousands(text: &str, at: usize) -> bool {
    let behind = text.as_bytes().get(at + 1..).unwrap_or_default();
    let digits_behind = behind.iter().take(4).take_while(|b| b.is_ascii_digit());
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let digits_before = before
        .iter()
        .rev()
        .take(4)
        .take_while(|b| b.is_ascii_digit());
    digits_behind.count() == 3 && (1..=3).contains(&digits_before.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lenient(text: &str) -> Value {
        read(text, 0).map_err(|r| r.what).unwrap().value
    }

    #[test]
    fn a_figure_with_separators_stays_one_value() {
        let value = lenient(r#"{"answer": 206,588, "b": $1,234.5, "c": 12, "d": 14.1%}"#);
        assert_eq!(value["answer"], "206,588");
        assert_eq!(value["b"], "$1,234.5");
        assert_eq!(value["c"], 12);
        assert_eq!(value["d"], "14.1%");
        let value = lenient(r#"{"a": True, "b": False, "c": None}"#);
        assert_eq!(value, serde_json::json!({"a": true, "b": false, "c": null}));
    }

    #[test]
    fn quotes_line_breaks_and_comments_inside() {
        let value = lenient(
            "{\"a\": \"the \"net\" sales\nof 5 \\% \", // note\n \"b\": \"x\",\n \"c\": [1, 2,]}",
        );
        assert_eq!(value["a"], "the \"net\" sales\nof 5 % ");
        assert_eq!(value["b"], "x");
        assert_eq!(value["c"], serde_json::json!([1, 2]));
    }

    #[test]
    fn a_value_cut_off_is_dropped_not_guessed() {
        let cut = r#"{"a": "x", "answer": "14."#;
        let read = read(cut, 0).map_err(|r| r.what).unwrap();
        assert_eq!(read.value, serde_json::json!({"a": "x"}));
        assert_eq!(read.cut_in.as_deref(), Some("answer"));
        let value = lenient(r#"{"a": "x", "answer": 14"#);
        assert_eq!(value, serde_json::json!({"a": "x"}));
        let value = lenient(r#"{"a": ["x", "y"], "answer": "14.1%""#);
        assert_eq!(value["answer"], "14.1%");
    }

    #[test]
    fn a_comment_after_a_bare_value_may_hold_a_comma() {
        let value = lenient("{\"a\": 14.1%, // of 2009, not 2008\n \"b\": 5 /* x, y */}");
        assert_eq!(value, serde_json::json!({"a": "14.1%", "b": 5}));
    }

    #[test]
    fn a_surrogate_pair_is_one_character() {
        let value = lenient(r#"{"a": "\ud83d\ude00 \u00e9",}"#);
        assert_eq!(value["a"], "😀 é");
        let value = lenient(r#"{"a": "\ud83d \ud83d\u0041",}"#);
        assert_eq!(value["a"], "\u{fffd} \u{fffd}A");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = "{\"a\":".to_string() + &"[".repeat(100_000);
        let refusal = read(&text, 0).err().unwrap();
        assert!(refusal.what.contains("nested"), "{}", refusal.what);
    }
}
