//! Finds the number that an answer means, or its yes or no.
//!
//! Prose around the number is ignored. If an answer has several figures, its words must rule out
//! all but one of them; docs/scoring.md ("Reading an answer") lists the rules.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::regex;
use crate::text::Pattern;

use super::fold::Folded;
use super::near::{NEAR, within};
use super::read::{NumberCandidate, Scanner};
use super::reading::{NotRead, NumberReading};
use super::words::{MONTHS, UNREAD, lists, scale_of_word, year_of};

static NO_ANSWER: Pattern = pattern!(
    r"(?i)\b(cannot|can['’]t|can not|could not|couldn['’]t|unable|impossible|not possible|not available|unavailable|not (?:be )?(?:found|given|stated|provided|disclosed|reported|determined|enough)|insufficient|undetermined|unknown|does not|doesn['’]t|no (?:data|information|figure|value|answer|such))\b"
);

/// Digits that belong to a name, a date or a label and are not an amount. In the order of the
/// forms: "row 3", "June 30, 2031", "30 June 2031", "3rd", "12/31/31", "2030-31", "6/2031",
/// "covid-19", "10-year", "1Q31".
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let month = MONTHS.map(|month| format!("{month}|{}", month.get(..3).unwrap_or_default()));
    let month = format!(r"(?:{}|sept)\b\.?", month.join("|"));
    let year = "(?:19|20)[0-9]{2}";
    let forms = [
        r"(?:steps?|rows?|columns?|pages?|notes?|lines?|tables?|sections?|items?|rounds?|errors?|footnotes?|exhibits?)[\s#]*[0-9]+".to_owned(),
        format!(r"{month}\s+[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+{year})?"),
        format!(r"[0-9]{{1,2}}(?:st|nd|rd|th)?\s+{month}(?:\s+{year})?"),
        r"[0-9]+(?:st|nd|rd|th)".to_owned(),
        ["/", r"\.", "[-‑]"].map(|by| format!("[0-9]{{1,4}}{by}[0-9]{{1,2}}{by}[0-9]{{1,4}}")).join("|"),
        format!(r"{year}\s?[-‑–/]\s?(?:{year}|[0-9]{{2}})"),
        format!(r"[0-9]{{1,2}}/{year}"),
        r"[a-z]+[-‑][0-9]+".to_owned(),
        r"[0-9]+[-‑]\s?[a-z]+(?:[-‑][a-z0-9]+)*".to_owned(),
        r"[1-4][qh](?:\s?(?:fy)?[0-9]{2,4})?".to_owned(),
    ];
    regex!(&format!(r"(?i)\b(?:{})\b", forms.join("|")))
});

/// Words directly before a figure with which the answer is compared: "up from about".
static COMPARED: Pattern = pattern!(
    r"(?i)\b(?:from|versus|vs\.?|than|against|(?:compared|relative) (?:to|with)|out of)\s+(?:(?:an?|the|about|approximately|around|roughly|nearly|just|only)\s+)*$"
);
/// A unit of time after a figure. "5 years" is the answer only if the text has no other figure.
static PERIOD: Pattern = pattern!(r"(?i)^\s*(?:years?|quarters?|months?|weeks?|days?)\b");
/// A sentence whose answer is a year, at its start or its end: "It was in 2031."
static YEAR: Pattern = pattern!(
    r"(?i)^(?:[^0-9]*\b(?:in|is|was|year)\s+(?:fiscal\s+)?)?[0-9]{4}(?:\s+(?:was|is|had)\b.*|\W*)$"
);
/// A figure that forms a range or a list with the next figure: "10 to", "10 or".
static RANGE: Pattern = pattern!(r"(?i)^[0-9.,]+\s*(?:-|/|to|or|and|through)?\s*$");
/// "to" directly before the second figure of a comparison: "from 100 to 114".
static TO: Pattern = pattern!(r"(?i)\bto\s+(?:(?:about|approximately|around|roughly|nearly)\s+)*$");

/// A word directly before a figure that gives it a sign: "loss of", "minus". The group `of` matches
/// phrases like "provision for loan losses of", in which the word is not a sign.
static LOSS: Pattern = pattern!(
    r"(?i)(?P<of>\bfor(?:\s+\w+){0,3}\s+)?\b(?:(?P<loss>loss|losses|deficit)(?:\s+of|:)?|negative|minus)\s+(?:(?:about|approximately|around|roughly|nearly|just|only)\s+)*$"
);
/// "Yes" or "no" at the start of a text, alone or before a punctuation mark, but not "no. of
/// shares" or "No. 5".
static YES_NO: Pattern = pattern!(
    r#"(?i)^[\s\[({"'$]*(?:(?P<yes>yes|true)|no|false)[\]}"']*(?:[)$\]}\s.!]*$|[,;:!(]|\s+[-(]|\.\s+(?:[^o0-9\s]|o[^f\s]))"#
);
/// A loss that is named after its figure: "45.2 (net loss)".
static LOSS_BEHIND: Pattern =
    pattern!(r"(?i)^\s*\(?\s*(?:(?:net|operating|pre-?tax)\s+)?(?:loss|deficit)\b");

/// Texts of more bytes are not read as answers, because the time grows with the square of the
/// length: each figure is compared with the text before it. The limit is set by hand. The reason
/// given is that there are several figures.
const LONGEST: usize = 8_000;

/// Reads the number that an answer means.
///
/// ```
/// use finqa_core::number::{NotRead, answer};
/// assert_eq!(answer("In 2031, revenue was **$1,454**.").map(|r| r.value), Ok(1454.0));
/// assert_eq!(answer("$4,812 million / $198.4 million = 24.25").map(|r| r.value), Ok(24.25));
/// assert_eq!(answer("revenue rose from 100 to 114").map(|r| r.value), Err(NotRead::Several));
/// ```
///
/// # Errors
/// The reason why the text does not have exactly one number as its answer.
pub fn answer(text: &str) -> Result<NumberReading, NotRead> {
    if text.len() > LONGEST {
        return Err(NotRead::Several);
    }
    let mut scanner = Scanner::new(text);
    // Copied, because the scanner is advanced below while the text is still in use.
    let text = scanner.folded.text.clone();
    let answer = AnswerText { text: &text };
    let names: Vec<Range<usize>> = NAMES.find_iter(&text).map(|found| found.range()).collect();
    let candidates = scanner.by_ref().filter(|found| !is_name(found, &names));
    let candidates: Vec<NumberCandidate> = candidates.collect();
    let figure = answer.figure(&candidates)?;
    // A text that opens with its figure answers with it, whatever its later words say.
    let opens = !answer.has_words(0..figure.span.start) && !answer.is_year(figure);
    if !opens && NO_ANSWER.is_match(&text) {
        return Err(NotRead::NoAnswer);
    }
    answer
        .understood(figure)
        .map(|reading| scanner.restored(reading))
}

/// `Some(true)` if an answer says yes or true, `Some(false)` for no or false, and otherwise `None`.
///
/// ```
/// use finqa_core::number::yes_or_no;
/// assert_eq!(yes_or_no("**Yes**, it rose."), Some(true));
/// assert_eq!(yes_or_no("False"), Some(false));
/// assert_eq!(yes_or_no("no change"), None);
/// ```
pub fn yes_or_no(text: &str) -> Option<bool> {
    let folded = Folded::new(text);
    let found = YES_NO.captures(folded.text.trim())?;
    Some(found.name("yes").is_some())
}

/// True for digits that are part of a name. Numbers with a scale word, percentages and basis points
/// are never part of a name.
fn is_name(found: &NumberCandidate, names: &[Range<usize>]) -> bool {
    let inside = |name: &Range<usize>| name.start <= found.span.start && found.span.end <= name.end;
    match &found.reading {
        Ok(reading) => {
            let is_amount = reading.percent || reading.scale.is_some() || reading.basis_points;
            !is_amount && names.iter().any(inside)
        }
        Err(NotRead::Name) => true,
        Err(_) => {
            let overlaps = |name: &Range<usize>| name.contains(&found.span.start);
            names.iter().any(overlaps)
        }
    }
}

/// The text of an answer, in which its figure is found.
struct AnswerText<'t> {
    text: &'t str,
}

impl AnswerText<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn behind(&self, at: usize) -> &str {
        self.slice(at..self.text.len())
    }

    fn has_words(&self, range: Range<usize>) -> bool {
        self.slice(range).contains(char::is_alphanumeric)
    }

    /// The figure of the answer. If the answer has a `=` or `≈`, this is the figure after the last
    /// one, or the figure before it if an expression follows ("24.25 = $4,812 / $198.4").
    fn figure<'c>(&self, candidates: &'c [NumberCandidate]) -> Result<&'c NumberReading, NotRead> {
        let Some(equals) = self.text.rfind(['=', '≈']) else {
            return self.one(candidates);
        };
        let at = candidates.partition_point(|found| found.span.start < equals);
        let (left, right) = candidates.split_at_checked(at).unwrap_or((candidates, &[]));
        match self.one(right) {
            Err(NotRead::NoNumber) => self.one(candidates),
            Err(_) => self.one(left),
            Ok(result) => {
                // "a = 5, b = 6" has two results.
                let last = left.last().map_or(0, |found| found.span.end);
                let lists = self.slice(0..last).contains('=')
                    && self.slice(last..equals).contains([',', ';', '\n']);
                (!lists).then_some(result).ok_or(NotRead::Several)
            }
        }
    }

    /// The only figure among the candidates that is not an aside, a year or a figure for
    /// comparison. Figures that differ by less than [`NEAR`] count as one. A figure without words
    /// before it is also chosen if all later ones only explain it. If the candidates are one year,
    /// it is chosen unless the text only mentions it.
    fn one<'c>(&self, candidates: &'c [NumberCandidate]) -> Result<&'c NumberReading, NotRead> {
        let behind = |at: usize| at.checked_sub(1).and_then(|at| candidates.get(at));
        let outside = candidates.iter().enumerate();
        let outside = outside.filter(|(at, found)| !self.is_aside(found, behind(*at)));
        let outside: Vec<&NumberCandidate> = outside.map(|(_, found)| found).collect();
        let is_amount = |found: &&NumberCandidate| {
            let reading = found.reading.as_ref();
            reading.is_ok_and(|reading| !self.is_year(reading))
        };
        // If all figures are asides or years, the answer is among them.
        let kept: Vec<&NumberCandidate> = if outside.iter().any(is_amount) {
            outside
        } else {
            candidates.iter().collect()
        };
        let mut amounts: Vec<&NumberReading> = Vec::new();
        let mut years: Vec<&NumberReading> = Vec::new();
        let mut compared = 0;
        let mut behind_from = false;
        for found in kept {
            let before = self.slice(0..found.span.start);
            // The words of a comparison are directly before the figure, so 60 bytes are enough
            // (set by hand).
            let tail = before.len().saturating_sub(60);
            let before = before
                .get(before.ceil_char_boundary(tail)..)
                .unwrap_or_default();
            // In "from 100 to 114", both figures are for comparison.
            let is_compared = COMPARED.is_match(before) || behind_from && TO.is_match(before);
            behind_from = is_compared;
            let reading = match &found.reading {
                Ok(reading) => reading,
                // A figure for comparison is not the answer, so it need not be read.
                Err(_) if is_compared => continue,
                Err(reason) => return Err(*reason),
            };
            if self.is_year(reading) {
                years.push(reading);
            } else if is_compared {
                compared += 1;
            } else {
                amounts.push(reading);
            }
        }
        self.only(&amounts, &years, compared)
    }

    /// The amount of an answer, or its year if it has no amount, as [`Self::one`] says. If figures
    /// for comparison are next to them (`compared` of them), no year is chosen.
    fn only<'c>(
        &self,
        amounts: &[&'c NumberReading],
        years: &[&'c NumberReading],
        compared: usize,
    ) -> Result<&'c NumberReading, NotRead> {
        let is_same = |a: &NumberReading, b: &NumberReading| {
            let value =
                |it: &NumberReading| it.fraction() * it.scale.map_or(1.0, super::Scale::factor);
            within(value(a), value(b), NEAR)
        };
        match (amounts, years) {
            ([first, rest @ ..], _) => {
                let one = rest.iter().all(|other| is_same(first, other));
                // In "$25,587, an increase of 14.1%", the first figure is the answer and the second
                // one explains it.
                let explains = |other: &&NumberReading| {
                    let between = self.slice(first.span.start..other.span.start);
                    other.percent != first.percent && !RANGE.is_match(between)
                };
                let opens = !self.has_words(0..first.span.start) && rest.iter().all(explains);
                (one || opens).then_some(*first).ok_or(NotRead::Several)
            }
            ([], []) if compared == 0 => Err(NotRead::NoNumber),
            ([], [year]) if compared == 0 => {
                // "In 2031" is an answer, but a sentence may only mention a year. The limit of
                // three words is set by hand.
                let few = self.text.split_whitespace().count() <= 3;
                let is_answer = few || YEAR.is_match(self.text);
                is_answer.then_some(*year).ok_or(NotRead::NoNumber)
            }
            ([], _) => Err(NotRead::Several),
        }
    }

    /// True for a calendar year without a sign, a unit or decimals.
    fn is_year(&self, reading: &NumberReading) -> bool {
        year_of(self.slice(reading.span.clone()).trim()).is_some()
    }

    /// True for a number that is an aside: in brackets with other text, in its own brackets
    /// directly after another number (`45.2 (2019)`), or a count of years or months.
    fn is_aside(&self, found: &NumberCandidate, behind: Option<&NumberCandidate>) -> bool {
        if self.slice(found.span.clone()).starts_with('(') {
            let apart =
                |behind: &NumberCandidate| self.slice(behind.span.end..found.span.start).trim();
            return behind.is_some_and(|behind| apart(behind).is_empty());
        }
        if PERIOD.is_match(self.behind(found.span.end)) {
            return true;
        }
        let depth = |depth: usize, c: char| match c {
            '(' | '[' => depth + 1,
            ')' | ']' => depth.saturating_sub(1),
            _ => depth,
        };
        self.slice(0..found.span.start).chars().fold(0, depth) > 0
    }

    /// Applies a sign in words ("loss of") and a separate scale letter to a figure.
    ///
    /// # Errors
    /// If a single bracket touches the figure, or an unsupported unit follows it.
    fn understood(&self, figure: &NumberReading) -> Result<NumberReading, NotRead> {
        let mut reading = figure.clone();
        let (before, behind) = (
            self.slice(0..figure.span.start),
            self.behind(figure.span.end),
        );
        let half = before.ends_with('(') || behind.starts_with(')');
        if half && self.text.matches('(').count() != self.text.matches(')').count() {
            return Err(NotRead::Sign);
        }
        let word = behind
            .trim_start()
            .split(|c: char| !c.is_alphabetic())
            .next();
        let word = word.unwrap_or_default().to_lowercase();
        let plain = !reading.percent && !reading.basis_points && reading.scale.is_none();
        match scale_of_word(&word) {
            // In an answer, a letter that is separated from the number is also a scale: `45.2 m`.
            Some((scale, _)) if plain && matches!(word.as_str(), "k" | "m" | "b") => {
                reading.scale = Some(scale);
                // The letter has one byte.
                reading.span.end += behind.find(char::is_alphabetic).unwrap_or(0) + 1;
            }
            None if !lists(UNREAD, &word) => {}
            // A word of `UNREAD`, or a scale word that was not read as part of the figure.
            _ => return Err(NotRead::Unit),
        }
        let found = LOSS
            .captures(before)
            .filter(|found| found.name("of").is_none());
        let behind = LOSS_BEHIND.is_match(behind);
        if found.is_some() || behind {
            reading.value = -reading.value.abs();
            reading.loss = behind || found.is_some_and(|found| found.name("loss").is_some());
        }
        Ok(reading)
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "tables of cases")]
mod tests;
