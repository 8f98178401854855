//! One answer with everything that a reader needs to check it. `ask` prints it as text or as JSON.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Value, json};

use finqa_agents::pair::verify::{Finding, FindingKind};
use finqa_agents::pair::{Answer, CriticVerdict, Round, Solution};
use finqa_core::number;
use finqa_core::text::counted;
use finqa_score::dataset::Question;

use super::evidence::NamedEvidence;
use super::formula;

/// An answer with the names of the places it cites and the findings of each round.
#[derive(Debug)]
pub struct AnswerView<'a> {
    pub(super) question: &'a Question,
    pub(super) solution: &'a Solution,
    /// The calibration from which the answer's probability comes, in words; `None` without a
    /// probability.
    pub(super) calibration: Option<String>,
    pub(super) evidence: Vec<NamedEvidence>,
    pub(super) rounds: Vec<RoundFindings>,
}

/// A round as `--json` and the terminal show it.
#[derive(Debug, Serialize)]
pub(super) struct RoundFindings {
    pub number: u32,
    pub answer: String,
    /// `ok`, `revise`, `unparsable` or `skipped`.
    pub verdict: &'static str,
    /// The verdict in a few words.
    #[serde(skip)]
    pub summary: String,
    /// Findings of the checks and the critic, one line each.
    pub findings: Vec<String>,
    /// The findings in words for people.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// The verdict of a round in a few words. Objections of the checks count even if the critic model
/// accepted the answer.
pub(super) fn verdict_text(round: &Round) -> String {
    match &round.verdict {
        CriticVerdict::Ok if round.objections() == 0 => "accepted".to_owned(),
        CriticVerdict::Ok => format!(
            "not accepted: {} (the critic model accepted it)",
            counted(round.findings.len(), "finding")
        ),
        CriticVerdict::Revise { findings } => {
            let count = findings.len() + round.findings.len();
            format!("not accepted: {}", counted(count, "finding"))
        }
        CriticVerdict::Unparsable { .. } => "critic's reply not understood".to_owned(),
        CriticVerdict::Skipped => "not reviewed".to_owned(),
    }
}

impl<'a> AnswerView<'a> {
    /// Looks up the cited places and collects each round's findings.
    pub fn new(
        question: &'a Question,
        solution: &'a Solution,
        calibration: Option<String>,
    ) -> Self {
        let cited = solution.answer.iter().flat_map(|answer| &answer.evidence);
        Self {
            question,
            solution,
            calibration: calibration.filter(|_| solution.probability.is_some()),
            evidence: cited
                .map(|evidence| NamedEvidence::new(question, evidence))
                .collect(),
            rounds: solution.rounds.iter().map(round_findings).collect(),
        }
    }
}

impl AnswerView<'_> {
    /// The reason why the answer is not sure, or why there is no answer; `None` for a sure answer.
    pub fn doubt(&self) -> Option<String> {
        let solution = self.solution;
        match &solution.answer {
            Some(answer) => answer.doubt.clone(),
            None => {
                let outcome = || solution.outcome.name().replace('_', " ");
                Some(solution.error.clone().unwrap_or_else(outcome))
            }
        }
    }

    /// The periods of the cited figures. If the answer has one value per figure, each value has its
    /// period; otherwise each period is listed once.
    fn periods(&self) -> Vec<&str> {
        let periods = self.evidence.iter().filter_map(NamedEvidence::period);
        let mut periods: Vec<&str> = periods.collect();
        let values = self.solution.answer.iter();
        let values = values.map(|answer| answer.values.len()).sum::<usize>();
        if values != periods.len() {
            let mut seen = HashSet::new();
            periods.retain(|period| seen.insert(*period));
        }
        periods
    }

    /// The calculation in the names of its figures; `None` for a figure that is only looked up.
    pub(super) fn formula(&self) -> Option<String> {
        let program = self.solution.answer.as_ref()?.program.as_deref()?;
        formula::in_names(program, &self.evidence)
    }

    /// Notes about the figures: those that the page prints below zero and the program uses as
    /// positive.
    fn notes(&self) -> Vec<String> {
        let size = |text: &str| number::read(text).map(|reading| reading.value);
        let turned = |cited: &&NamedEvidence| {
            let printed = self.question.document.evidence(&cited.id).and_then(size);
            let signs = printed.zip(size(&cited.literal));
            signs.is_some_and(|(printed, used)| printed < 0.0 && used > 0.0)
        };
        let turned = self.evidence.iter().filter(turned);
        turned
            .map(|cited| format!("{} is printed below zero", cited.label))
            .collect()
    }

    /// The answer as JSON for other programs.
    pub fn json(&self) -> Value {
        let solution = self.solution;
        let answer = solution.answer.as_ref();
        let (input_tokens, output_tokens) = solution.tokens();
        json!({
            "question": self.question.text,
            "outcome": solution.outcome,
            "sure": self.doubt().is_none(),
            "answer": answer.map(|answer| match answer.values.as_slice() {
                [] => json!(answer.printed),
                values => json!(values),
            }),
            "value": answer.and_then(|answer| answer.value.as_ref()),
            "plain_value": answer.and_then(Answer::plain_value),
            "unit": answer.map(|answer| answer.unit),
            "label": answer.and_then(|answer| answer.label.as_ref()),
            "periods": self.periods(),
            "formula": self.formula(),
            "notes": self.notes(),
            "steps": answer.map_or(&[][..], |answer| &answer.steps),
            "evidence": self.evidence,
            "program": answer.and_then(|answer| answer.program.as_ref()),
            "program_error": answer.and_then(|answer| answer.program_error.as_ref()),
            "confidence": answer.and_then(|answer| answer.confidence),
            "probability": solution.probability,
            "calibration": self.calibration,
            "doubt": self.doubt(),
            "rounds": self.rounds,
            "chosen_round": solution.chosen_round,
            "votes": solution.votes,
            "second_opinion": solution.opinion,
            "stop": solution.stop,
            "error": solution.error,
            "calls": solution.calls.len(),
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
        })
    }
}

/// A round as the output of an answer shows it. Its findings are those of the checks, followed by
/// the critic's or by the reason why the critic's reply cannot be read.
fn round_findings(round: &Round) -> RoundFindings {
    let mut findings: Vec<String> = round.findings.iter().map(ToString::to_string).collect();
    match &round.verdict {
        CriticVerdict::Revise { findings: others } => {
            findings.extend(others.iter().map(ToString::to_string));
        }
        CriticVerdict::Unparsable { reason } => findings.push(reason.clone()),
        CriticVerdict::Ok | CriticVerdict::Skipped => {}
    }
    RoundFindings {
        number: round.number,
        answer: round.answer.printed.clone(),
        verdict: round.verdict.name(),
        summary: verdict_text(round),
        findings,
        problems: problems(round),
    }
}

/// A round's findings for people. Corrections are left out, because they are addressed to a model.
/// The reason of a doubt is left out too, because the answer states it.
fn problems(round: &Round) -> Vec<String> {
    let mut problems: Vec<String> = round.findings.iter().map(problem).collect();
    match &round.verdict {
        CriticVerdict::Revise { findings } => problems.extend(findings.iter().map(|finding| {
            let mut unfixed = finding.clone();
            if !unfixed.problem.is_empty() {
                unfixed.fix.clear();
            }
            unfixed.to_string()
        })),
        CriticVerdict::Unparsable { reason } => problems.push(reason.clone()),
        CriticVerdict::Ok | CriticVerdict::Skipped => {}
    }
    problems
}

/// One finding of the checks for people.
fn problem(finding: &Finding) -> String {
    match finding.kind {
        FindingKind::Doubt => "the answer is a guess".to_owned(),
        _ => format!("{}: {}", finding.place, finding.problem),
    }
}
