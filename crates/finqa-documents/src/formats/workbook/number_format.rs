//! Prints stored numbers as a workbook does, by the grammar of its number formats (ECMA-376,
//! part 1, 18.8.31).

use std::iter::Peekable;
use std::str::Chars;

use finqa_core::number::Scale;

/// A parsed format code.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberFormat {
    /// One section for all numbers; two for numbers from zero and for negative ones; or three for
    /// positive numbers, negative numbers and zero. A fourth one is for text. If any section has a
    /// condition, a number is printed by the first section whose condition it meets, or that has
    /// none.
    sections: Vec<Section>,
}

/// A section of a number format: the condition for which it is used, and how it prints a number.
#[derive(Clone, Debug, Default, PartialEq)]
struct Section {
    /// The condition `[<1000]`: its operator and its number.
    condition: Option<(String, f64)>,
    parts: Vec<Part>,
    /// True if the format separates thousands: `#,##0`.
    grouped: bool,
    /// The number of commas after the digits. Each divides the number by 1,000.
    thousands: u32,
    /// The number of percent signs. Each multiplies the number by 100.
    percents: i32,
    /// The placeholders after the decimal point: `0`, `#` or `?`.
    decimals: Vec<char>,
    /// The number of digits of an exponent; 0 for no exponent.
    exponent: usize,
    /// The smallest and the largest denominator of a fraction.
    denominators: Option<(u32, u32)>,
    /// The letters of a date or a time, in lower case.
    letters: String,
}

/// A piece of what a section prints. `Section::parts` has them in the order in which they are
/// printed.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A placeholder of the integer part.
    Digit(char),
    /// What follows the integer part: decimals, an exponent or a fraction.
    Rest,
    /// The number in its shortest form, or a text unchanged.
    General,
    Text(String),
}

/// How a number is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    Number {
        text: String,
        /// The stored number, in the printed scale and unit.
        value: f64,
        /// The scale by which the format divides, and whether it also prints the scale word:
        /// `0.0,,"m"`.
        scale: Option<(Scale, bool)>,
    },
    /// A date, with its smallest part: `y`, `m` or `d` for year, month or day.
    Date(char),
    /// A time of day or a duration.
    Time,
    /// Text without digits, or nothing.
    Words(String),
}

/// The words that a format prints after a number in a scale. The scales are in the order of the
/// commas that they need: one for thousands, two for millions.
const WORDS: [(Scale, &[&str]); 3] = [
    (Scale::Thousand, &["k", "t", "tsd", "tsd.", "thousand"]),
    (
        Scale::Million,
        &["m", "mm", "mn", "mln", "mio", "mio.", "mil", "million"],
    ),
    (Scale::Billion, &["b", "bn", "mrd", "mrd.", "billion"]),
];

impl NumberFormat {
    /// Parses a format code. Every text is a format, because unknown characters print themselves.
    pub(super) fn read(code: &str) -> Self {
        let mut sections = vec![Section::default()];
        let mut rest = code.chars().peekable();
        while let Some(c) = rest.next() {
            if c == ';' {
                sections.push(Section::default());
            } else if let Some(section) = sections.last_mut() {
                section.add(c, &mut rest);
            }
        }
        Self { sections }
    }

    /// True if the format hides all numbers: `;;;`.
    pub(super) fn is_blank(&self) -> bool {
        self.sections.len() > 2 && self.sections.iter().take(3).all(Section::is_blank)
    }

    /// True if the format hides text.
    pub(super) fn hides_text(&self) -> bool {
        self.sections.get(3).is_some_and(Section::is_blank)
    }

    /// Prints a number by the section that applies to it.
    pub(super) fn show(&self, number: f64) -> Shown {
        let meets = |section: &Section| section.meets(number);
        let conditions = self.sections.iter().any(|one| one.condition.is_some());
        let numbers = self.sections.len().min(3);
        let at = match numbers {
            // If no condition is met, the first section prints the number.
            _ if conditions => self.sections.iter().position(meets).unwrap_or(0),
            2 | 3 if number < 0.0 => 1,
            3 if number == 0.0 => 2,
            _ => 0,
        };
        // Always found, because `at` is below the number of sections.
        let Some(section) = self.sections.get(at) else {
            return Shown::Words(String::new());
        };
        // A section for negative numbers has its own sign or brackets, so no minus is added.
        let signed = number < 0.0 && (at == 0 || conditions);
        section.show(number, signed)
    }
}

/// The characters up to `end`, which is consumed too.
fn until(end: char, rest: &mut Peekable<Chars<'_>>) -> String {
    rest.by_ref().take_while(|c| *c != end).collect()
}

impl Section {
    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// True if the section prints nothing but spaces.
    fn is_blank(&self) -> bool {
        let nothing = |part: &Part| matches!(part, Part::Text(text) if text.trim().is_empty());
        self.parts.iter().all(nothing) && self.letters.is_empty()
    }

    /// Reads one character of the code and, where it has an argument, the characters after it.
    fn add(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        let in_rest = self.parts.contains(&Part::Rest);
        let has_digits = in_rest || self.parts.iter().any(|part| matches!(part, Part::Digit(_)));
        match c {
            '"' => self.text(&until('"', rest)),
            '\\' => {
                let next = rest.next().map(String::from);
                self.text(&next.unwrap_or_default());
            }
            // `_` is a blank as wide as the next character, and `*` repeats the next character
            // to fill the cell.
            '_' => {
                rest.next();
                self.text(" ");
            }
            '*' => {
                rest.next();
            }
            '[' => self.bracket(&until(']', rest)),
            '0' | '#' | '?' if in_rest => self.decimals.push(c),
            '0' | '#' | '?' => self.parts.push(Part::Digit(c)),
            '.' if !in_rest && self.letters.is_empty() => self.parts.push(Part::Rest),
            ',' if has_digits => {
                let is_digit = |c: &char| matches!(c, '0' | '#' | '?');
                let mut next = rest.clone().skip_while(|c| *c == ',');
                if next.next().is_some_and(|c| is_digit(&c)) && !in_rest {
                    self.grouped = true;
                } else {
                    self.thousands += 1;
                }
            }
            '%' => {
                self.percents += 1;
                self.text("%");
            }
            'E' | 'e' if has_digits && matches!(rest.peek(), Some('+' | '-')) => {
                rest.next();
                while rest.next_if(|c| matches!(c, '0' | '#' | '?')).is_some() {
                    self.exponent += 1;
                }
                if !in_rest {
                    self.parts.push(Part::Rest);
                }
            }
            '/' if has_digits && self.letters.is_empty() => self.fraction(rest),
            'G' | 'g' => {
                let mut name = rest.clone().take(6);
                if "eneral"
                    .chars()
                    .all(|c| name.next().is_some_and(|n| n.eq_ignore_ascii_case(&c)))
                {
                    rest.nth(5);
                    self.parts.push(Part::General);
                }
            }
            'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => {
                self.letters.push(c.to_ascii_lowercase());
            }
            '@' => self.parts.push(Part::General),
            _ => self.text(&c.to_string()),
        }
    }

    /// Reads the text in brackets: a condition, a currency with its locale, the letters of a
    /// duration, or a colour, which is ignored.
    fn bracket(&mut self, inside: &str) {
        let number = inside.trim_start_matches(['<', '>', '=']);
        let (sign, _) = inside
            .split_at_checked(inside.len() - number.len())
            .unwrap_or_default();
        let plain = |c: char| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's');
        if let Some(currency) = inside.strip_prefix('$') {
            self.text(currency.split('-').next().unwrap_or_default());
        } else if let (false, Ok(number)) = (sign.is_empty(), number.trim().parse()) {
            self.condition = Some((sign.to_owned(), number));
        } else if inside.chars().all(plain) {
            self.letters.push('h');
        }
    }

    /// Reads the denominator of a fraction. The placeholders directly before the slash are the
    /// numerator and not the integer part.
    fn fraction(&mut self, rest: &mut Peekable<Chars<'_>>) {
        while matches!(self.parts.last(), Some(Part::Digit(_))) {
            self.parts.pop();
        }
        let mut places = String::new();
        while let Some(c) = rest.next_if(|c| matches!(c, '0'..='9' | '#' | '?')) {
            places.push(c);
        }
        let most = 10_u32.saturating_pow(u32::try_from(places.len()).unwrap_or(1)) - 1;
        // Placeholders such as `??` are not a number. `fraction` tries each denominator up to
        // `most`, so it is limited, to 999 by hand.
        let fixed = places.parse().ok().filter(|fixed| *fixed > 0);
        self.denominators = Some(fixed.map_or((1, most.min(999)), |fixed| (fixed, fixed)));
        self.parts.push(Part::Rest);
    }

    /// True if the number meets the condition of the section, or if it has none.
    fn meets(&self, number: f64) -> bool {
        let Some((sign, other)) = &self.condition else {
            return true;
        };
        let (less, more) = (number < *other, number > *other);
        match sign.as_str() {
            "<" => less,
            ">" => more,
            "<=" => !more,
            ">=" => !less,
            "=" => !less && !more,
            _ => less || more,
        }
    }

    /// Prints a number by this section. `signed` adds a minus.
    fn show(&self, number: f64, signed: bool) -> Shown {
        if !self.letters.is_empty() {
            let has = |letter: char| self.letters.contains(letter);
            // Next to hours or seconds, `m` means minutes.
            let of_time = has('h') || has('s');
            return match () {
                () if has('d') => Shown::Date('d'),
                () if has('m') && !of_time => Shown::Date('m'),
                () if has('y') => Shown::Date('y'),
                () => Shown::Time,
            };
        }
        // No format has as many commas as an `i32` can count.
        let thousands = i32::try_from(self.thousands).unwrap_or_default();
        let value = plain(number * 100_f64.powi(self.percents) / 1000_f64.powi(thousands));
        let text = self.printed(value.abs());
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return Shown::Words(text);
        }
        let zero = !text.contains(|c: char| matches!(c, '1'..='9'));
        let sign = if signed && !zero { "-" } else { "" };
        Shown::Number {
            text: format!("{sign}{text}"),
            value,
            scale: self.scale(),
        }
    }

    /// The scale by which the commas divide, and true if the text after the number names it. `None`
    /// if the format has no such commas.
    fn scale(&self) -> Option<(Scale, bool)> {
        let at = usize::try_from(self.thousands).ok()?.checked_sub(1)?;
        let (scale, words) = WORDS.get(at)?;
        let last = match self.parts.last() {
            Some(Part::Text(text)) => text.trim().to_lowercase(),
            _ => String::new(),
        };
        Some((*scale, words.contains(&last.trim_end_matches(')').trim())))
    }

    /// Prints a number that is not negative.
    fn printed(&self, number: f64) -> String {
        let (whole, rest) = match (self.exponent, self.denominators) {
            (0, None) => decimal(number, &self.decimals),
            (0, Some(range)) => {
                let has_whole = self.parts.iter().any(|part| matches!(part, Part::Digit(_)));
                fraction(number, range, has_whole)
            }
            (places, _) => exponential(number, &self.decimals, places),
        };
        let zero = self.parts.contains(&Part::Digit('0'));
        let whole = if whole == "0" && !zero { "" } else { &whole };
        // Fill the placeholders from the right. The first one takes all remaining digits.
        let mut digits = whole.chars().rev().enumerate().peekable();
        let first = self
            .parts
            .iter()
            .position(|part| matches!(part, Part::Digit(_)));
        let mut out: Vec<String> = Vec::new();
        for (at, part) in self.parts.iter().enumerate().rev() {
            out.push(match part {
                Part::Text(text) => text.clone(),
                Part::Rest => rest.clone(),
                Part::General => general(number),
                Part::Digit(place) => {
                    let mut taken = Vec::new();
                    let is_first = first == Some(at);
                    while let Some((place, digit)) =
                        digits.next_if(|_| is_first || taken.is_empty())
                    {
                        if self.grouped && place > 0 && place % 3 == 0 {
                            taken.push(',');
                        }
                        taken.push(digit);
                    }
                    if taken.is_empty() && *place == '0' {
                        "0".to_owned()
                    } else {
                        // The digits are in reverse order, so each comma was added before its
                        // digit.
                        taken.iter().rev().collect()
                    }
                }
            });
        }
        out.reverse();
        finqa_core::text::single_spaced(&out.concat())
    }
}

/// Rounds to the fifteen digits that a workbook keeps: 14.8, not 14.799999999999999.
fn plain(number: f64) -> f64 {
    format!("{number:.14e}").parse().unwrap_or(number)
}

/// The digits before the decimal point, and the point with the digits after it.
fn decimal(number: f64, places: &[char]) -> (String, String) {
    let rounded = rounded(number, places.len());
    let (whole, behind) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let least = places
        .iter()
        .rposition(|place| *place == '0')
        .map_or(0, |at| at + 1);
    let mut behind = behind.to_owned();
    while behind.len() > least && behind.ends_with('0') {
        behind.pop();
    }
    let point = if behind.is_empty() { "" } else { "." };
    (whole.to_owned(), format!("{point}{behind}"))
}

/// Rounds a half up, judged by the decimal form and not by the binary value: 2.675 becomes
/// 2.68.
fn rounded(number: f64, decimals: usize) -> String {
    let plain = format!("{number:.decimals$}");
    let unit = 10_f64.powi(-i32::try_from(decimals).unwrap_or_default());
    // The 1e-9 covers what the binary value may be too small.
    let close = plain
        .parse::<f64>()
        .is_ok_and(|plain| number - plain >= unit * (0.5 - 1e-9));
    if close {
        format!("{:.decimals$}", number + unit / 2.0)
    } else {
        plain
    }
}

/// Splits a number in scientific notation after its first digit: `3` and `.83E+11`.
fn exponential(number: f64, places: &[char], width: usize) -> (String, String) {
    let printed = format!("{number:.*e}", places.len());
    let (digits, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let point = if behind.is_empty() { "" } else { "." };
    let sign = if exponent.starts_with('-') { "-" } else { "+" };
    let exponent = exponent.trim_start_matches('-');
    let rest = format!("{point}{behind}E{sign}{exponent:0>width$}");
    (whole.to_owned(), rest)
}

/// The integer part, and the fraction nearest to the rest. Of equally near fractions, the one
/// with the smallest denominator is used.
fn fraction(number: f64, (from, to): (u32, u32), has_whole: bool) -> (String, String) {
    let whole = if has_whole { number.floor() } else { 0.0 };
    let apart = |of: &u32| {
        let times = (number - whole) * f64::from(*of);
        (times - times.round()).abs() / f64::from(*of)
    };
    // The added 1e-12 makes distances equal that differ only by binary rounding.
    let best = (from..=to).min_by(|a, b| (apart(a) + 1e-12).total_cmp(&(apart(b) + 1e-12)));
    // A format without placeholders after its slash has no denominators to try.
    let of = best.unwrap_or(1);
    let numerator = ((number - whole) * f64::from(of)).round();
    if numerator == 0.0 {
        (format!("{whole:.0}"), String::new())
    } else if numerator >= f64::from(of) && has_whole {
        (format!("{:.0}", whole + 1.0), String::new())
    } else {
        (format!("{whole:.0}"), format!("{numerator:.0}/{of}"))
    }
}

/// The shortest form of a number, with at most eleven digits as in Excel's format General, so that
/// 0.1 + 0.2 is 0.3.
pub(super) fn general(number: f64) -> String {
    let whole = format!("{:.0}", number.trunc())
        .trim_start_matches('-')
        .len();
    let places = 11_usize.saturating_sub(whole);
    let plain = format!("{number:.places$}");
    if plain.contains('.') {
        plain.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        plain
    }
}

#[cfg(test)]
mod tests;
