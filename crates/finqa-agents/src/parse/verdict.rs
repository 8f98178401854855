//! Reads the critic's reply as a [`CriticVerdict`].
//!
//! A verdict is the object of the schema, `ALL_OK`, a sentence of approval, or a list of findings.
//! Any other reply is unparsable: it neither accepts the answer nor sends it back.

use std::sync::LazyLock;

use finqa_core::number::fold;
use finqa_core::pattern;
use finqa_core::regex;
use finqa_core::text::{Pattern, single_spaced};
use regex::Regex;
use serde_json::{Map, Value};

use super::candidates::{bounded, without_think};
use super::object::{self, ObjectSearch, VERDICT_KEYS, items, scalar};
use super::types::{CriticFinding, CriticVerdict};

/// Reads a critic's reply. An approval with findings counts as a revision. An approval in an object
/// is unparsable if the text around the object says that something is wrong, or contains `ALL_OK`
/// again.
pub fn verdict(text: &str) -> CriticVerdict {
    let text = without_think(bounded(text)).trim();
    if text.is_empty() {
        return unparsable("the critic's reply is empty");
    }
    if text == "ALL_OK" {
        return CriticVerdict::Ok;
    }
    // The reply may be a list of findings without the enclosing object.
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return of_findings(&items);
    }
    match object::find(text, &VERDICT_KEYS) {
        ObjectSearch::Object(object) if object.cut_in.is_some() => {
            unparsable("the critic's reply is cut off")
        }
        ObjectSearch::Object(object) => {
            // The place is one of `text`, so the defaults are never used.
            let (before, rest) = text
                .split_at_checked(object.place.start)
                .unwrap_or((text, ""));
            let after = rest.get(object.place.len()..).unwrap_or_default();
            let around = format!("{before}\n{after}");
            let verdict = of_object(&object.members);
            match verdict {
                CriticVerdict::Ok if objects(&around) || around.contains("ALL_OK") => {
                    unparsable("the approval is among other text")
                }
                verdict => verdict,
            }
        }
        ObjectSearch::Refused { what, .. } => {
            unparsable(format!("the critic's JSON cannot be read: {what}"))
        }
        ObjectSearch::Nothing => of_text(text),
    }
}

fn unparsable(reason: impl Into<String>) -> CriticVerdict {
    CriticVerdict::Unparsable {
        reason: reason.into(),
    }
}

/// Reads an object of the schema, which may lack the verdict or the findings, but not both. With
/// findings it is a revision, whatever the verdict says. Without findings it is an approval, unless
/// it has a verdict that does not approve; it is then unparsable.
fn of_object(members: &Map<String, Value>) -> CriticVerdict {
    let word = members.get("verdict").and_then(scalar);
    let findings = members.get("findings").filter(|found| !found.is_null());
    let findings = match (findings, findings.and_then(items)) {
        (_, Some(items)) => of_findings(&items),
        (None, _) if word.is_some() => CriticVerdict::Ok,
        _ => unparsable("the critic's findings cannot be read"),
    };
    match (word, findings) {
        (Some(word), CriticVerdict::Ok) if !approves(&word) => {
            unparsable(format!("the verdict is `{word}` without a finding"))
        }
        (_, findings) => findings,
    }
}

/// The finding for a reply that asks for a revision without a readable finding. It is the reply's
/// `findings` if they are a text, and otherwise the whole reply. `None` for other replies.
pub(crate) fn unread_revision(text: &str) -> Option<CriticFinding> {
    if !matches!(verdict(text), CriticVerdict::Unparsable { .. }) {
        return None;
    }
    let text = without_think(bounded(text)).trim();
    let (word, findings) = match object::find(text, &VERDICT_KEYS) {
        ObjectSearch::Object(object) if object.is_closed => {
            let findings = object.member("findings").and_then(scalar);
            (object.member("verdict").and_then(scalar)?, findings)
        }
        ObjectSearch::Nothing => (text.to_owned(), None),
        _ => return None,
    };
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_revision = word.get(..6)?.eq_ignore_ascii_case("revise");
    let said = findings.filter(|findings| !findings.is_empty());
    is_revision.then(|| CriticFinding {
        problem: said.unwrap_or_else(|| text.to_owned()),
        ..CriticFinding::default()
    })
}

/// Reads a list of findings. An empty list is an approval. A list with an item that is empty or
/// that approves is unparsable.
fn of_findings(items: &[Value]) -> CriticVerdict {
    let mut findings = Vec::new();
    for item in items {
        let text = |map: &Map<String, Value>, key: &str| {
            let text = map.get(key).and_then(scalar);
            text.unwrap_or_default()
        };
        let finding = match item {
            Value::Object(map) => CriticFinding {
                location: text(map, "where"),
                problem: text(map, "problem"),
                fix: text(map, "fix"),
            },
            item => CriticFinding {
                problem: scalar(item).unwrap_or_default(),
                ..CriticFinding::default()
            },
        };
        if finds_nothing(&finding.problem) && finds_nothing(&finding.fix) {
            return unparsable("a finding of the critic says nothing");
        }
        findings.push(finding);
    }
    if findings.is_empty() {
        CriticVerdict::Ok
    } else {
        CriticVerdict::Revise { findings }
    }
}

fn finds_nothing(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "" | "none" | "n/a" | "-") || approves(text)
}

/// Reads a verdict in text: `ALL_OK`, or findings with bullets. Other text is unparsable.
fn of_text(text: &str) -> CriticVerdict {
    if approves(text) {
        return CriticVerdict::Ok;
    }
    if let Some(items) = bullets(text) {
        return of_findings(&items);
    }
    unparsable(if text.contains("ALL_OK") {
        "ALL_OK is among other text"
    } else {
        "the critic's reply is neither ALL_OK nor a list of findings"
    })
}

/// The items of a text that consists of a list. It may have a heading that ends in a colon. `None`
/// if any other line is not an item.
fn bullets(text: &str) -> Option<Vec<Value>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut items = Vec::new();
    for (at, line) in lines.enumerate() {
        let digits = |c: char| c.is_ascii_digit();
        let numbered = || line.trim_start_matches(digits).strip_prefix(['.', ')']);
        let item = line.strip_prefix(['-', '*', '•']).or_else(numbered);
        match item.filter(|item| item.starts_with(' ')) {
            Some(item) => items.push(Value::from(item.trim())),
            None if at == 0 && line.ends_with(':') => {}
            None => return None,
        }
    }
    (!items.is_empty()).then_some(items)
}

// The words of this list and of those below are chosen by hand. A reply in other words is
// unparsable, which neither accepts an answer nor sends it back.
const THINGS: &str = "analysis|answer|calculations?|program|results?|values?|figures?|numbers?|steps?|evidence|units?|signs?|solution|response|reasoning|logic|computation|citations?";
const RIGHT: &str = "all ok|allok|ok|okay|correct|right|fine|good|accurate|valid|sound|perfect|lgtm|in order|approved?|accept(?:ed)?|verified|confirmed|pass(?:ed)?|complete|consistent";

/// A sentence that says that everything is right.
static IS_RIGHT: LazyLock<Regex> = LazyLock::new(|| {
    let subject = format!(
        "(?:this|that|it|everything|all|both|(?:(?:the|this|your|all|all the) )?(?:analyst's )?(?:{THINGS})(?: and (?:the )?(?:{THINGS}))?)"
    );
    let verb = "(?:is|are|was|were|looks?|seems?|appears?)(?: to be)?";
    regex!(&format!(
        "^(?:{subject} {verb} )?(?:all |fully |entirely |completely |perfectly )?(?:{RIGHT})(?: and (?:{RIGHT}))?(?: as (?:is|it stands))?$|^(?:{subject} )?checks? out$"
    ))
});
/// A sentence that says that there is no error.
static NO_ERROR: Pattern = pattern!(
    "^(?:i |we )?(?:have |can |could |there )?(?:found |find |see |saw |are |is |were |was |identified |have )?no (?:further |other |significant |major |more )?(?:issues?|errors?|problems?|mistakes?|findings?|objections?|corrections?|changes?|revisions?|discrepanc(?:y|ies)|inconsistenc(?:y|ies))(?: (?:were |was |are |is )?(?:found|identified|detected|needed|required|necessary|noted))?(?: (?:in|with|to|for) (?:the|this|your) [a-z]+)?$|^(?:there is |i have |i found )?nothing (?:is )?(?:wrong|to (?:object to|object|correct|fix|revise|change|report))$"
);
static OBJECTION: Pattern = pattern!(
    r"\b(?:wrong|incorrect|inaccurate|mistaken?|should be|not (?:correct|right|ok|supported))\b"
);

/// True if the text around a verdict says that the analysis is wrong.
fn objects(text: &str) -> bool {
    OBJECTION.is_match(&folded(text))
}

/// The text in lower case, in which characters that look alike are replaced by one of them.
fn folded(text: &str) -> String {
    text.chars().map(fold).collect::<String>().to_lowercase()
}

/// True if at least one sentence approves and all others are fillers such as `great`. Ignores a
/// label at the beginning (`Verdict:`) and decoration.
fn approves(text: &str) -> bool {
    const LABELS: [&str; 4] = ["verdict", "final verdict", "conclusion", "text"];
    const FILLERS: [&str; 4] = ["yes", "great", "good job", "thanks"];
    let text = folded(text);
    let sentences = text.split(['.', '!', '?', ';', ',', ':', '\n']);
    let sentences = sentences.map(|part| {
        let words = part.replace(['_', '-'], " ");
        single_spaced(words.trim_matches(|c: char| !c.is_alphanumeric()))
    });
    let sentences: Vec<String> = sentences.filter(|part| !part.is_empty()).collect();
    let sentences = match sentences.as_slice() {
        [label, rest @ ..] if LABELS.contains(&label.as_str()) => rest,
        all => all,
    };
    let is_right = |sentence: &String| IS_RIGHT.is_match(sentence) || NO_ERROR.is_match(sentence);
    let is_filler = |sentence: &String| FILLERS.contains(&sentence.as_str());
    sentences.iter().any(is_right) && sentences.iter().all(|it| is_right(it) || is_filler(it))
}
