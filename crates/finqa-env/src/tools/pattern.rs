//! LIKE and GLOB, which match exactly as `SQLite`'s do, but check the clock: the
//! originals take time proportional to pattern times text within a single
//! instruction, which no time limit can interrupt.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::functions::real_text;
use super::limits::CallBudget;

/// Longest pattern of LIKE and GLOB.
pub(super) const PATTERN_BYTES: usize = 256;
/// Characters compared between two checks of the clock.
const STEPS: usize = 4096;

/// Replaces `SQLite`'s own.
pub(super) fn register(connection: &Connection, clock: &CallBudget) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, arguments, language) in [("like", 2, LIKE), ("like", 3, LIKE), ("glob", 2, GLOB)] {
        let clock = clock.clone();
        connection.create_scalar_function(name, arguments, flags, move |c| {
            clock.check()?;
            matches(c, language, &clock)
        })?;
    }
    Ok(())
}

/// The wildcards of a pattern language; 0 for one that it lacks.
#[derive(Clone, Copy)]
struct PatternSyntax {
    all: u32,
    one: u32,
    set: u32,
    folds_case: bool,
}

const LIKE: PatternSyntax = PatternSyntax {
    all: b'%' as u32,
    one: b'_' as u32,
    set: 0,
    folds_case: true,
};

const GLOB: PatternSyntax = PatternSyntax {
    all: b'*' as u32,
    one: b'?' as u32,
    set: b'[' as u32,
    folds_case: false,
};

fn failed(text: &str) -> Error {
    Error::UserFunctionError(text.into())
}

/// An argument as text up to its first null character, and its whole length.
fn bytes(c: &Context<'_>, at: usize) -> Option<(Vec<u8>, usize)> {
    let mut text = match c.get_raw(at) {
        ValueRef::Null => return None,
        ValueRef::Integer(i) => i.to_string().into_bytes(),
        ValueRef::Real(x) => real_text(x).into_bytes(),
        ValueRef::Text(text) | ValueRef::Blob(text) => text.to_vec(),
    };
    let length = text.len();
    if let Some(end) = text.iter().position(|byte| *byte == 0) {
        text.truncate(end);
    }
    Some((text, length))
}

fn matches(c: &Context<'_>, mut language: PatternSyntax, clock: &CallBudget) -> Result<Value> {
    let pattern = bytes(c, 0);
    if pattern
        .as_ref()
        .is_some_and(|(_, length)| *length > PATTERN_BYTES)
    {
        return Err(failed("LIKE or GLOB pattern too complex"));
    }
    let mut other = language.set;
    if c.len() == 3 {
        let Some((escape, _)) = bytes(c, 2) else {
            return Ok(Value::Null);
        };
        let mut reader = PatternReader::new(&escape);
        other = reader.next();
        if other == 0 || reader.at != escape.len() {
            return Err(failed("ESCAPE expression must be a single character"));
        }
        if other == language.all {
            language.all = 0;
        }
        if other == language.one {
            language.one = 0;
        }
    }
    let (Some((pattern, _)), Some((text, _))) = (pattern, bytes(c, 1)) else {
        return Ok(Value::Null);
    };
    let mut matcher = PatternMatcher {
        language,
        other,
        clock,
        steps: 0,
    };
    let outcome = matcher.compare(PatternReader::new(&pattern), PatternReader::new(&text))?;
    Ok(Value::Integer(i64::from(outcome == MatchOutcome::Match)))
}

/// Reads characters as `SQLite` does, from text that need not be UTF-8.
#[derive(Clone, Copy)]
struct PatternReader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> PatternReader<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// The next character; 0 at the end.
    fn next(&mut self) -> u32 {
        let first = u32::from(self.peek());
        self.at += 1;
        let mut c = match first {
            0..0xc0 => return first,
            0xc0..0xe0 => first - 0xc0,
            0xe0..0xf0 => first - 0xe0,
            0xf0..0xf8 => first - 0xf0,
            0xf8..0xfc => first - 0xf8,
            _ => u32::from(first == 0xfd),
        };
        while self.peek() & 0xc0 == 0x80 {
            c = (c << 6).wrapping_add(u32::from(self.peek() & 0x3f));
            self.at += 1;
        }
        if c < 0x80 || c & 0xffff_f800 == 0xd800 {
            return 0xfffd;
        }
        c
    }

    fn skip(&mut self) {
        let first = self.peek();
        self.at += 1;
        while first >= 0xc0 && self.peek() & 0xc0 == 0x80 {
            self.at += 1;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchOutcome {
    Match,
    NoMatch,
    /// Nor is there a match later in the text.
    NoMatchAnywhere,
}

struct PatternMatcher<'a> {
    language: PatternSyntax,
    /// The escape character of LIKE or the set of GLOB; 0 for neither.
    other: u32,
    clock: &'a CallBudget,
    steps: usize,
}

impl PatternMatcher<'_> {
    fn step(&mut self, characters: usize) -> Result<()> {
        self.steps += characters;
        if self.steps >= STEPS {
            self.steps = 0;
            self.clock.check()?;
        }
        Ok(())
    }

    fn compare(
        &mut self,
        mut pattern: PatternReader<'_>,
        mut text: PatternReader<'_>,
    ) -> Result<MatchOutcome> {
        let PatternSyntax {
            all,
            one,
            set,
            folds_case,
        } = self.language;
        let mut escaped = None;
        loop {
            self.step(1)?;
            let mut c = pattern.next();
            if c == 0 {
                break;
            }
            if c == all {
                return self.after_wildcard(pattern, text);
            }
            if c == self.other {
                if set == 0 {
                    c = pattern.next();
                    if c == 0 {
                        return Ok(MatchOutcome::NoMatch);
                    }
                    escaped = Some(pattern.at);
                } else if in_set(&mut pattern, &mut text) {
                    continue;
                } else {
                    return Ok(MatchOutcome::NoMatch);
                }
            }
            let found = text.next();
            let same = c == found
                || folds_case && c < 0x80 && found < 0x80 && lower(c) == lower(found)
                || c == one && escaped != Some(pattern.at) && found != 0;
            if !same {
                return Ok(MatchOutcome::NoMatch);
            }
        }
        Ok(if text.peek() == 0 {
            MatchOutcome::Match
        } else {
            MatchOutcome::NoMatch
        })
    }

    /// Tries the rest of the pattern at each position after a wildcard for any text.
    fn after_wildcard(
        &mut self,
        mut pattern: PatternReader<'_>,
        mut text: PatternReader<'_>,
    ) -> Result<MatchOutcome> {
        let PatternSyntax { all, one, set, .. } = self.language;
        let mut c;
        loop {
            c = pattern.next();
            if c == one && one != 0 {
                if text.next() == 0 {
                    return Ok(MatchOutcome::NoMatchAnywhere);
                }
            } else if c != all {
                break;
            }
        }
        if c == 0 {
            return Ok(MatchOutcome::Match);
        }
        let mut from = pattern;
        if c == self.other {
            if set == 0 {
                c = from.next();
                if c == 0 {
                    return Ok(MatchOutcome::NoMatchAnywhere);
                }
            } else {
                from.at -= 1;
                while text.peek() != 0 {
                    let outcome = self.compare(from, text)?;
                    if outcome != MatchOutcome::NoMatch {
                        return Ok(outcome);
                    }
                    text.skip();
                }
                return Ok(MatchOutcome::NoMatchAnywhere);
            }
        }
        loop {
            self.step(1)?;
            let found = text.next();
            if found == 0 {
                return Ok(MatchOutcome::NoMatchAnywhere);
            }
            let folded = self.language.folds_case && c < 0x80 && found < 0x80;
            if c == found || folded && lower(c) == lower(found) {
                let outcome = self.compare(from, text)?;
                if outcome != MatchOutcome::NoMatch {
                    return Ok(outcome);
                }
            }
        }
    }
}

/// True if the next character of the text is in the set that begins at `pattern`.
fn in_set(pattern: &mut PatternReader<'_>, text: &mut PatternReader<'_>) -> bool {
    let c = text.next();
    if c == 0 {
        return false;
    }
    let (mut prior, mut seen, mut inverted) = (0, false, false);
    let mut listed = pattern.next();
    if listed == u32::from(b'^') {
        inverted = true;
        listed = pattern.next();
    }
    if listed == u32::from(b']') {
        seen = c == listed;
        listed = pattern.next();
    }
    while listed != 0 && listed != u32::from(b']') {
        let ranges = listed == u32::from(b'-') && prior > 0;
        if ranges && !matches!(pattern.peek(), b']' | 0) {
            listed = pattern.next();
            seen |= (prior..=listed).contains(&c);
            prior = 0;
        } else {
            seen |= c == listed;
            prior = listed;
        }
        listed = pattern.next();
    }
    listed != 0 && seen != inverted
}

/// ASCII only, as `SQLite` folds.
fn lower(c: u32) -> u32 {
    if (0x41..=0x5a).contains(&c) {
        c + 0x20
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::limits::ToolLimits;
    use proptest::prelude::*;
    use rusqlite::types::ToSqlOutput;
    use std::time::Duration;

    /// The result of both for the same query: the value, or the error's message.
    fn both(query: &str, arguments: &[Value]) -> [std::result::Result<Value, String>; 2] {
        thread_local! {
            static OURS: Connection = {
                let connection = Connection::open_in_memory().unwrap();
                register(&connection, &CallBudget::new(0)).unwrap();
                connection
            };
            static PLAIN: Connection = Connection::open_in_memory().unwrap();
        }
        [&OURS, &PLAIN].map(|which| {
            which.with(|connection| {
                let limit = rusqlite::limits::Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH;
                connection.set_limit(limit, 256).unwrap();
                let mut statement = connection.prepare_cached(query).unwrap();
                for (i, argument) in arguments.iter().enumerate() {
                    let bound = match argument {
                        // A text that is not UTF-8, such as a cast produces.
                        Value::Blob(bytes) if bytes.first() == Some(&b'T') => {
                            ToSqlOutput::Borrowed(ValueRef::Text(&bytes[1..]))
                        }
                        other => ToSqlOutput::Borrowed(other.into()),
                    };
                    statement.raw_bind_parameter(i + 1, bound).unwrap();
                }
                let mut rows = statement.raw_query();
                match rows.next() {
                    Ok(row) => Ok(row.unwrap().get(0).unwrap()),
                    Err(Error::SqliteFailure(_, Some(text))) => Err(text),
                    Err(other) => Err(other.to_string()),
                }
            })
        })
    }

    fn argument() -> impl Strategy<Value = Value> {
        let letters = prop::sample::select(vec![
            "a", "A", "b", "Z", "z", "%", "_", "*", "?", "[", "]", "^", "-", "\\", "é", "É", "€",
            "😀", "\0", " ", "1", "@", "`", "{",
        ]);
        let text = prop::collection::vec(letters, 0..12).prop_map(|letters| letters.concat());
        let bytes = prop::collection::vec(
            prop_oneof![
                Just(b'a'),
                Just(b'%'),
                Just(b'_'),
                Just(b'*'),
                Just(b'['),
                Just(b']'),
                any::<u8>()
            ],
            0..10,
        );
        prop_oneof![
            8 => text.prop_map(Value::Text),
            2 => bytes.clone().prop_map(|mut bytes| { bytes.insert(0, b'T'); Value::Blob(bytes) }),
            2 => bytes.prop_map(|mut bytes| { bytes.insert(0, b'B'); Value::Blob(bytes) }),
            1 => any::<i64>().prop_map(Value::Integer),
            1 => (-1000_i32..1000).prop_map(|n| Value::Real(f64::from(n) / 8.0)),
            1 => Just(Value::Null),
            1 => (250_usize..262).prop_map(|n| Value::Text("a".repeat(n))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn like_and_glob_are_those_of_sqlite(pattern in argument(), text in argument(), escape in argument()) {
            let two = [text.clone(), pattern.clone()];
            for query in ["SELECT ?1 LIKE ?2", "SELECT ?1 GLOB ?2"] {
                let [ours, plain] = both(query, &two);
                prop_assert_eq!(ours, plain, "{} {:?}", query, two);
            }
            for escape in [escape, Value::Text("\\".into()), Value::Text("%".into()), Value::Text("_".into())] {
                let three = [text.clone(), pattern.clone(), escape];
                let [ours, plain] = both("SELECT ?1 LIKE ?2 ESCAPE ?3", &three);
                prop_assert_eq!(ours, plain, "{:?}", three);
            }
        }

        /// Patterns that are close to the text, which random ones rarely are.
        #[test]
        fn patterns_made_of_their_text_match_alike(
            text in "[a-cA-C%_*?\\[\\]é-]{0,10}",
            holes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec!["%", "_", "*", "?", "[a-c]", "[^b]", "", "\\%"])), 0..4),
        ) {
            let mut pattern: Vec<String> = text.chars().map(String::from).collect();
            for (at, hole) in holes {
                if !pattern.is_empty() {
                    let at = at.index(pattern.len());
                    pattern[at] = hole.to_owned();
                }
            }
            let two = [Value::Text(text), Value::Text(pattern.concat())];
            for query in ["SELECT ?1 LIKE ?2", "SELECT ?1 GLOB ?2", "SELECT ?1 LIKE ?2 ESCAPE '\\'"] {
                let [ours, plain] = both(query, &two);
                prop_assert_eq!(ours, plain, "{} {:?}", query, two);
            }
        }
    }

    /// `SQLite`'s own needs tens of milliseconds for 65,536 bytes and never checks a
    /// clock; ours ends with its budget.
    #[test]
    fn a_match_ends_with_its_budget() {
        let connection = Connection::open_in_memory().unwrap();
        let clock = CallBudget::new(1 << 20);
        register(&connection, &clock).unwrap();
        let limits = ToolLimits::default();
        let query = "SELECT ?1 LIKE ?2";
        let text = "a".repeat(60_000);
        let pattern = format!("%{}b", "a_".repeat(120));
        let found = |time| {
            clock.arm(crate::tools::limits::QueryBudget {
                time,
                ..limits.full()
            });
            connection.query_row(query, [&text, &pattern], |row| row.get::<_, bool>(0))
        };
        assert!(!found(Duration::from_secs(600)).unwrap());
        let error = found(Duration::ZERO).unwrap_err().to_string();
        assert!(error.contains("interrupted"), "{error}");
        // Also in the middle of one match.
        let mut matcher = PatternMatcher {
            language: LIKE,
            other: 0,
            clock: &clock,
            steps: 0,
        };
        let ended = matcher.compare(
            PatternReader {
                text: pattern.as_bytes(),
                at: 0,
            },
            PatternReader {
                text: text.as_bytes(),
                at: 0,
            },
        );
        assert!(ended.is_err());
    }
}
