//! Whether a critic's words approve, object, or do neither.
//!
//! Models approve in their own words (`OK`, `No issues found.`, `Alles korrekt`). Only a
//! text that says nothing else is an approval: a sentence that matches none of the patterns
//! never counts as one.

use std::sync::LazyLock;

use finqa_core::regex;
use finqa_core::text::single_spaced;
use regex::Regex;

/// The sentiment of a text about the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sentiment {
    /// Every sentence approves.
    Approves,
    /// States an error.
    Objects,
    /// Disapproves without a reason (`Incorrect.`, `REVISE`).
    Disapproves,
    /// Approves among other things.
    Mixed,
    /// None of these.
    Neither,
}

/// Approvals in other languages than English, in lower case.
const APPROVALS: [&str; 56] = [
    "alles ok", "alles in ordnung", "in ordnung", "alles korrekt", "alles richtig", "richtig",
    "korrekt", "stimmt", "keine fehler", "keine fehler gefunden", "keine einwände",
    "keine beanstandungen", "die analyse ist korrekt", "die antwort ist korrekt",
    "die antwort ist richtig", "tout est correct", "tout est bon", "c'est correct",
    "aucune erreur", "aucune erreur trouvée", "aucun problème", "aucune objection",
    "todo correcto", "todo está bien", "todo bien", "correcto", "sin errores", "ningún error",
    "no hay errores", "no se encontraron errores", "aprobado", "tutto corretto", "tutto ok",
    "corretto", "nessun errore", "approvato", "tudo certo", "tudo correto", "correto", "sem erros",
    "nenhum erro", "aprovado", "alles goed", "geen fouten", "goedgekeurd", "正确", "全部正确",
    "没有问题", "没有错误", "通过", "問題なし", "問題ありません", "верно", "всё верно",
    "все верно", "ошибок нет",
];

type Pattern = LazyLock<Regex>;

const THINGS: &str = "analysis|answer|calculations?|program|results?|values?|figures?|numbers?|steps?|evidence|units?|signs?|solution|response|reasoning|logic|computation|citations?";
const RIGHT: &str = "all ok|allok|ok|okay|correct|right|fine|good|accurate|valid|sound|perfect|lgtm|in order|approved?|accept(?:ed)?|verified|confirmed|pass(?:ed)?|complete|consistent";

static IS_RIGHT: Pattern = LazyLock::new(|| {
    let subject = format!(
        "(?:this|that|it|everything|all|both|(?:(?:the|this|your|all|all the) )?(?:analyst's )?(?:{THINGS})(?: and (?:the )?(?:{THINGS}))?)"
    );
    let verb = "(?:is|are|was|were|looks?|seems?|appears?)(?: to be)?";
    regex!(&format!(
        "^(?:{subject} {verb} )?(?:all |fully |entirely |completely |perfectly )?(?:{RIGHT})(?: and (?:{RIGHT}))?(?: as (?:is|it stands))?$|^(?:looks|seems) (?:good|fine|ok|okay|correct|right)(?: to me)?$|^(?:{subject} )?checks? out$"
    ))
});
static NO_ERROR: Pattern = LazyLock::new(|| {
    regex!(
        "^(?:i |we )?(?:have |can |could |there )?(?:found |find |see |saw |are |is |were |was |identified |have )?no (?:further |other |significant |major |more )?(?:issues?|errors?|problems?|mistakes?|findings?|objections?|corrections?|changes?|revisions?|discrepanc(?:y|ies)|inconsistenc(?:y|ies))(?: (?:were |was |are |is )?(?:found|identified|detected|needed|required|necessary|noted))?(?: (?:in|with|to|for) (?:the|this|your) [a-z]+)?$|^(?:there is |i have |i found )?nothing (?:is )?(?:wrong|to (?:object to|object|correct|fix|revise|change|report))$"
    )
});
static OBJECTION: Pattern = LazyLock::new(|| {
    regex!(
        r"\b(?:not|[a-z]+n't|but|however|except|although|wrong|incorrect|inaccurate|errors?|mistakes?|should|must|instead|missing|mismatch|revise|revision|reject(?:ed)?|fail(?:s|ed)?|inconsistent|unsupported|falsch|fehler|erreurs?|incorrecto|incorrecta|errore|errado)\b|错误|不正确|неверно|ошибка"
    )
});
static DISAPPROVAL: Pattern = LazyLock::new(|| {
    regex!(
        "^(?:(?:this|that|it|(?:the |this |your )?(?:analysis|answer)) (?:is|was|needs|must be) ?)?(?:not (?:all )?(?:ok|okay|correct|right|approved|accepted|valid)|revise|revised|revision|needs? (?:a )?revision|needs? work|reject(?:ed)?|wrong|incorrect|fail(?:ed)?|invalid|disapproved?)$"
    )
});
static FLAT_OBJECTION: Pattern = LazyLock::new(|| {
    regex!(
        r"\b(?:wrong|incorrect|inaccurate|mistaken?|should be|not (?:correct|right|ok|supported))\b"
    )
});

pub(super) fn leaning(text: &str) -> Sentiment {
    let lower = text.to_lowercase().replace('’', "'");
    let sentences = sentences(&lower);
    let (approving, others): (Vec<&String>, Vec<&String>) =
        sentences.iter().partition(|sentence| approves(sentence));
    if !approving.is_empty() && others.iter().all(|other| is_filler(other)) {
        return Sentiment::Approves;
    }
    if let [only] = sentences.as_slice()
        && DISAPPROVAL.is_match(only)
    {
        return Sentiment::Disapproves;
    }
    let rest: Vec<&str> = others.iter().map(|other| other.as_str()).collect();
    if OBJECTION.is_match(&rest.join(" ")) {
        Sentiment::Objects
    } else if approving.is_empty() {
        Sentiment::Neither
    } else {
        Sentiment::Mixed
    }
}

/// True if a text says that something is wrong.
pub(super) fn objects(text: &str) -> bool {
    matches!(leaning(text), Sentiment::Objects | Sentiment::Disapproves)
}

/// True if text around a verdict says explicitly that the analysis is wrong.
pub(super) fn objects_outright(text: &str) -> bool {
    FLAT_OBJECTION.is_match(&text.to_lowercase())
}

/// True if the text of a finding denies one (`none`, `n/a`, `No issues.`).
pub(super) fn finds_nothing(text: &str) -> bool {
    let plain = text.trim().trim_end_matches('.').to_lowercase();
    matches!(
        plain.as_str(),
        "" | "none"
            | "no"
            | "false"
            | "0"
            | "none needed"
            | "not needed"
            | "n/a"
            | "na"
            | "nil"
            | "nothing"
            | "null"
            | "-"
            | "\u{2014}"
    ) || leaning(text) == Sentiment::Approves
}

/// The sentences and clauses of a text in lower case, without decoration and without a
/// label such as `Verdict:`.
fn sentences(lower: &str) -> Vec<String> {
    const LABELS: [&str; 8] = [
        "verdict", "final verdict", "conclusion", "decision", "status", "result", "review",
        "assessment",
    ];
    let ends = |c: char| {
        matches!(
            c,
            '.' | '!' | '?' | ';' | ',' | ':' | '\n' | '。' | '，' | '！'
        )
    };
    lower
        .split(ends)
        .map(|part| {
            let words = part.replace(['_', '-'], " ");
            let kept = words.trim_matches(|c: char| !c.is_alphanumeric());
            single_spaced(kept)
        })
        .filter(|part| !part.is_empty())
        .enumerate()
        .filter(|(at, part)| *at > 0 || !LABELS.contains(&part.as_str()))
        .map(|(_, part)| part)
        .collect()
}

fn approves(sentence: &str) -> bool {
    IS_RIGHT.is_match(sentence) || NO_ERROR.is_match(sentence) || APPROVALS.contains(&sentence)
}

fn is_filler(sentence: &str) -> bool {
    matches!(
        sentence,
        "yes" | "great" | "good job" | "well done" | "thanks" | "thank you"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_says_nothing_else_approves() {
        for (text, leaning) in [
            ("Correct. No issues found.", Sentiment::Approves),
            ("Yes, the analysis is correct.", Sentiment::Approves),
            ("I found no errors in the calculation.", Sentiment::Approves),
            ("No, issues were found", Sentiment::Neither),
            (
                "The analysis is correct, but the unit is wrong",
                Sentiment::Objects,
            ),
            ("The analysis is correct for 2009", Sentiment::Neither),
            ("The answer is correct. It uses r1c1.", Sentiment::Mixed),
            ("Not correct.", Sentiment::Disapproves),
            ("The year isn’t the one asked for", Sentiment::Objects),
            ("", Sentiment::Neither),
        ] {
            assert_eq!(super::leaning(text), leaning, "{text}");
        }
    }
}
