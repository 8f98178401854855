//! Rewrites phrases of a question into the plain words that the other files of this folder read.

use std::sync::LazyLock;

use finqa_core::pattern;
use finqa_core::regex;
use finqa_core::text::Pattern;
use regex::{Captures, Regex};

use super::plain_periods::with_periods;
use crate::reading::text::stem;
use crate::tables::page::Tables;
use crate::tables::words::{STATES, plain_stems};

/// Adverbs inside the name of a figure that do not change it: "taxes actually paid".
static ADVERBS: Pattern = pattern!(r"(?i)\b(?:actually|really|exactly|approximately|roughly)\b ?");

/// "Closing" before a balance, which is one at the end of a period: "the closing cash balance".
static CLOSING: Pattern = pattern!(r"(?i)\bclosing (?P<of>(?:[\w&'-]+ ){0,3}balances?)\b");

/// "Which of the last three years", which is read as "which year".
static OF_YEARS: Pattern = pattern!(
    r"(?i)\bwhich of (?:the )?(?:last |past )?(?:(?:two|three|four|five) )?(?:(?:fiscal )?years? ?|fiscal )"
);

/// The period of a report: "this quarter", "the latest year", "latest balance sheet".
static THIS_PERIOD: Pattern = pattern!(
    r"(?i)\b(?:this|(?:the )?(?:latest|most recent)) (?:fiscal )?(?P<unit>quarter|year|balance sheet)\b"
);

/// "Which share of", which is read as "what share of".
static WHICH_SHARE: Pattern =
    pattern!(r"(?i)\bwhich (?P<of>(?:share|portion|part|proportion|percentage|fraction) of)\b");

/// A request for the first of some parts or periods without a verb, which is read as "which segment
/// had the highest": "the segment with the highest sales".
static NOUN_WITH: Pattern = pattern!(
    r"(?i)^(?:the )?(?P<noun>(?:[a-z-]+ ){0,2}[a-z-]+) with (?:the )?(?P<most>highest|largest|biggest|greatest|most|lowest|smallest|least|fewest)\b"
);

/// Phrases of questions about a single table, each with a plain one. A phrase stays if a label has
/// one of its words.
#[rustfmt::skip] // A table: rustfmt would break its rows.
const PLAINLY: &[(&str, &str)] = &[
    // Courtesy around a question. Only phrases that limit nothing: "for the UK" would.
    (concat!(
        r"^(?:(?:hello|hi|hey|good (?:morning|afternoon|evening|day))(?: there| all)?[,.!]* +",
        r"|i(?:'d| would) (?:like|love|be (?:grateful|glad|happy)) |i (?:want|need) ",
        r"|i(?:'m| am| was)? wonder(?:ing)? |to (?:know|see) |(?:if )?(?:could|can|would) you ",
        r"|(?:if )?you (?:could|can|would) |do you know |(?:please|kindly|just|quickly),? ",
        r"|(?:tell|show|give) (?:me|us) |(?:work|find) out |(?:calculate|compute|look up|find) )+",
    ), ""),
    (concat!(
        r"(?:[,.!?;]* *\b(?:for (?:me|us)|please|(?:many )?thanks(?: a lot| in advance)?",
        r"|thank you(?: (?:very|so) much)?|cheers))+[.!? ]*$",
    ), "?"),
    (r"\b(?:came|come|comes|worked|works|turned|turns) out (?:at|as|to be)\b", "is"),
    (r"\b(?:sits|stands|stood)\b", "is"),
    (r"\bcompares? (?:with|to)\b", "compared with"),
    (concat!(
        r"\b(?:at|by|as of|as at) (?:the )?",
        r"(?:end of(?: the)?(?: year)?|year[- ]end)(?: of)?\b",
    ), "in"),
    (concat!(
        r"^(did|have|has|was|were|is|are) (?:we|i|they|you|it|there|the company)",
        r"(?: pay| paid| have| had| spend| spent)*(?: on| for)? (?:any|an?)\b",
    ), "$1 there any"),
    (concat!(
        r"^(?:what (?:was|is) )?(?:the |our )?",
        r"(best|strongest|highest|worst|weakest|lowest) (year|quarter|month) (?:for|of|by)\b",
    ), "which $2 had the $1"),
    (r"\b(?:best|strongest)\b", "highest"),
    (r"\b(?:worst|weakest|poorest)\b", "lowest"),
];

/// German phrases and words of questions, each with an English one. A word that a label has stays.
#[rustfmt::skip] // A table: rustfmt would break its rows.
const IN_ENGLISH: &[(&str, &str)] = &[
    (r"\bum wie ?viel\b", "by how much"),
    (r"\bwie ?viele?\b", "how much"),
    (r"\b(?:wie hoch|was) (?:war|waren|ist|sind)\b", "what was"),
    (r"\bwelche[rsnm]?\b", "which"),
    (r"\bmonat\b", "month"),
    (r"\bjahre?\b", "year"),
    (r"\berste[ns]? quartal\b", "first quarter"),
    (r"\bzweite[ns]? quartal\b", "second quarter"),
    (r"\bdritte[ns]? quartal\b", "third quarter"),
    (r"\bvierte[ns]? quartal\b", "fourth quarter"),
    (r"\bquartal\b", "quarter"),
    (r"\b(?:am )?(?:höchste|größte|stärkste)[nrsm]?\b", "highest"),
    (r"\b(?:am )?(?:niedrigste|geringste|kleinste|schwächste)[nrsm]?\b", "lowest"),
    (r"\b(?:insgesamt|gesamt)\b", "total"),
    (r"\b(?:im )?(?:durchschnittlich(?:e[nrs]?)?|durchschnitt|mittel)\b", "average"),
    (r"\bin prozent\b|\bprozent\b", "percent"),
    (r"\bveränderung\b", "change"),
    (r"\b(?:gestiegen|gewachsen)\b", "rise"),
    (r"\b(?:gesunken|gefallen)\b", "fall"),
    (r"\bmehr\b", "more"),
    (r"\bweniger\b", "less"),
    (r"\bals\b", "than"),
    (r"\bund\b", "and"),
    (r"\bbis\b", "until"),
    (r"\bvon\b", "from"),
    (r"\b(?:war|waren|ist|sind)\b", "was"),
    (r"\b(?:hat|haben)\b", "has"),
    (r"\b(?:der|die|das|den|dem|des|im|am|wir|uns|unsere?[ns]?|gemacht)\b", "the"),
];

/// Words that judge a figure. After those in the group, a high one may be good or bad.
pub(crate) static JUDGES: Pattern = pattern!(
    r"(?i)\b(?:(?P<either>best|worst|poorest)|strongest|weakest|(?:stärkste|schwächste)[nrsm]?)\b"
);

/// Words with which a German question asks.
static GERMAN: Pattern = pattern!(
    r"(?i)\b(?:wie ?(?:viele?|hoch)|welche[rsnm]?|was (?:war|waren|ist)|gesamt|insgesamt)\b"
);

/// Comparisons of an actual figure with its plan, as comparisons of two figures. [`IN_PLANS`] has the
/// words in capitals.
#[rustfmt::skip] // A table: rustfmt would break its rows.
const BESIDE_PLAN: &[(&str, &str)] = &[
    (r"^HOW OVER PLAN BE (?P<of>.+)$", "how much higher was actual $of than $plan $of"),
    (r"^HOW UNDER PLAN BE (?P<of>.+)$", "how much lower was actual $of than $plan $of"),
    (r"^HOW BE(?P<of>.+?) OVER PLAN(?P<behind>.*)$",
        "how much higher was actual $of$behind than $plan $of$behind"),
    (r"^HOW BE(?P<of>.+?) UNDER PLAN(?P<behind>.*)$",
        "how much lower was actual $of$behind than $plan $of$behind"),
    (r"^BE(?P<of>.+?) OVER PLAN(?P<behind>.*)$",
        "was actual $of$behind higher than $plan $of$behind"),
    (r"^BE(?P<of>.+?) UNDER PLAN(?P<behind>.*)$",
        "was actual $of$behind lower than $plan $of$behind"),
];

/// The parts of the forms in [`BESIDE_PLAN`].
#[rustfmt::skip] // A table: rustfmt would break its rows.
const IN_PLANS: [(&str, &str); 5] = [
    ("HOW", "(?:by )?how (?:far|much)"),
    ("OVER", "(?:(?:go|come in) )?(?:over|above|exceed)"),
    ("UNDER", "(?:(?:stay|come in|remain) )?(?:under|below|within)"),
    ("PLAN", r"(?:(?:the|our|its|their) )?(?P<plan>budget|plan)\b"),
    ("BE", r"(?:was|were|is|are|did|have|has)\b(?: (?:we|they|it|go|been|on|for|with)\b)*"),
];

type Phrases = Vec<(Regex, &'static str)>;

static PLAIN_PHRASES: LazyLock<Phrases> = LazyLock::new(|| phrases(PLAINLY));
static ENGLISH_PHRASES: LazyLock<Phrases> = LazyLock::new(|| phrases(IN_ENGLISH));
static PLAN_PHRASES: LazyLock<Phrases> = LazyLock::new(|| phrases(BESIDE_PLAN));

fn phrases(list: &[(&str, &'static str)]) -> Phrases {
    let list = list.iter();
    let form = |form: &str| {
        let parts = IN_PLANS.iter();
        parts.fold(format!("(?i){form}"), |form, (name, part)| {
            form.replace(name, part)
        })
    };
    list.map(|(of, plain)| (regex!(&form(of)), *plain))
        .collect()
}

/// The question with the phrases of a list replaced, apart from those that have a word of a label.
fn replaced(tables: &Tables, question: String, list: &Phrases) -> String {
    list.iter().fold(question, |question, (form, plain)| {
        let replace = |found: &Captures<'_>| {
            let said = plain_stems(&found[0]).iter().any(|stem| tables.says(stem));
            let mut out = String::new();
            found.expand(plain, &mut out);
            if said { found[0].to_owned() } else { out }
        };
        form.replace_all(&question, replace).into_owned()
    })
}

/// A question about how a figure keeps to its plan, if labels have the words for both and none for
/// the difference, as in "Over budget".
fn beside_plan(tables: &Tables, question: &str) -> String {
    let bare = question.trim_end_matches(['?', ' ', '.']);
    let of_difference = ["over", "under", "above", "below", "within", "variance"];
    let printed = of_difference.iter().any(|word| tables.says(&stem(word)));
    let plan = ["budget", "plan"]
        .iter()
        .find(|word| tables.says(&stem(word)));
    let known = tables.says(&stem("actual")) && plan.is_some() && !printed;
    let form = PLAN_PHRASES
        .iter()
        .find(|(form, _)| known && form.is_match(bare));
    form.map_or_else(
        || question.to_owned(),
        |(form, plain)| form.replace(bare, *plain).into_owned(),
    )
}

/// A question about a report that says "the quarter" for its latest one. A slash between spaces
/// divides.
pub(super) fn asked_plainly(tables: &Tables, question: &str) -> String {
    if !tables.is_report() {
        return question.to_owned();
    }
    let this = |found: &Captures<'_>| {
        // The year of a quarterly report is not over.
        let unit = found["unit"].to_lowercase();
        let known = match unit.as_str() {
            "year" => tables.is_annual(),
            "quarter" => !tables.is_annual(),
            _ => true,
        };
        if known {
            format!("the {unit}")
        } else {
            found[0].to_owned()
        }
    };
    let question = question.replace(" / ", " divided by ");
    THIS_PERIOD.replace_all(&question, this).into_owned()
}

/// The question with one spelling for the same thing, and without adverbs that change nothing.
pub(super) fn simplified(tables: &Tables, question: &str) -> String {
    let mut question = STATES.replace_all(question, "usa ").into_owned();
    if tables.is_report() {
        question = ADVERBS.replace_all(&question, "").into_owned();
        // A label with the word may be meant by it.
        if !tables.says(&stem("closing")) {
            question = CLOSING.replace_all(&question, "ending $of").into_owned();
        }
    } else {
        question = replaced(tables, question, &PLAIN_PHRASES);
        if GERMAN.is_match(&question) {
            question = replaced(tables, question, &ENGLISH_PHRASES);
        }
        question = with_periods(tables, &beside_plan(tables, &question));
    }
    let question = OF_YEARS.replace_all(&question, "which year ");
    let question = WHICH_SHARE.replace_all(&question, "what $of");
    NOUN_WITH
        .replace_all(&question, "which $noun had the $most")
        .into_owned()
}
