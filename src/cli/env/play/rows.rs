//! Episodes on questions of `ConvFinQA` as rows of an `output.csv`, so that
//! `convfinqa compare` sets them beside a run of the two agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dataset::{Document, Gold, Question, RecordKind};
use crate::env_data::question_key;
use crate::output::{OutputError, write_rows};
use crate::play::{Ending, Played};
use crate::run::{Mode, Row};
use crate::score::Scores;
use crate::score::files::filename_of;
use finqa_agents::agents::{Answer, AnswerFrom, Call, Settled, StopReason, printed_value};
use finqa_agents::models::{ChatReply, Cost, FinishReason};
use finqa_agents::parse::Analysis;
use finqa_core::number::{Value, literal};
use finqa_env::data::{Catalog, EnvQuestion, bare_question};

/// Writes the rows, in the order of the catalog where it is here; gives the
/// path, or `None` if no question was built from `ConvFinQA`.
///
/// # Errors
/// [`OutputError`] if the file cannot be written.
pub fn write(
    path: &Path,
    episodes: &[Arc<Played>],
    catalog: Option<&Catalog>,
) -> Result<Option<PathBuf>, OutputError> {
    let known: HashMap<&str, (usize, &EnvQuestion)> = catalog
        .map(|catalog| {
            let questions = catalog.questions().iter().enumerate();
            questions.map(|(at, q)| (q.id.as_str(), (at, q))).collect()
        })
        .unwrap_or_default();
    let mut rows: Vec<Row> = episodes
        .iter()
        .enumerate()
        .filter_map(|(at, played)| row(at, played, known.get(played.question_id.as_str())))
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    rows.sort_by_key(|row| row.index);
    write_rows(path, &rows)?;
    Ok(Some(path.to_owned()))
}

fn row(at: usize, played: &Played, known: Option<&(usize, &EnvQuestion)>) -> Option<Row> {
    let key = question_key(&played.question_id)?;
    // The page itself is not at hand: what is told about it is told by the tools.
    let document = Arc::new(Document {
        filename: filename_of(&key.id).to_owned(),
        id: key.id.clone(),
        ..Document::default()
    });
    let question = Question {
        key: key.clone(),
        document: Arc::clone(&document),
        text: bare_question(&played.question).to_owned(),
        history: Vec::new(),
    };
    let gold = match known {
        Some((_, question)) => gold(question),
        None => graded(played.ground_truth.as_deref()),
    };
    let row = Row {
        index: known.map_or(at, |(at, _)| *at),
        epoch: 0,
        turns: None,
        filename: document.filename.clone(),
        kind: Some(if key.id.starts_with("Double_") {
            RecordKind::Double
        } else {
            RecordKind::Single
        }),
        key,
        question: question.text.clone(),
        gold,
        mode: Mode::Questions,
        settled: settled(played, &question),
        scores: Scores::default(),
        latency: Some(played.seconds),
        cost: played.spent.cost_usd,
        draft_cost: None,
        stamp: None,
        document: Some(document),
        cells: None,
    };
    Some(row.scored())
}

fn settled(played: &Played, question: &Question) -> Settled {
    let submitted = played.outcome == Ending::Submitted;
    let answer = played.answer.as_ref().filter(|_| submitted).map(|text| {
        let analysis = Analysis {
            steps: Vec::new(),
            answer: text.clone(),
            evidence: Vec::new(),
            program: None,
            unit: None,
            label: None,
            confidence: None,
        };
        Answer::settle(&analysis, question, AnswerFrom::Text)
    });
    Settled {
        outcome: played.outcome.outcome(),
        // There is no critic in this loop.
        stop: if submitted {
            StopReason::NoVerdict
        } else {
            StopReason::Failed
        },
        answer,
        chosen_round: None,
        error: played.error.clone(),
        votes: None,
        opinion: None,
        rounds: Vec::new(),
        calls: calls(played),
    }
}

/// The calls that a provider was asked for, as far as the columns count them.
fn calls(played: &Played) -> Vec<Call> {
    let asked = played.calls.iter().filter(|call| call.requests > 0);
    asked
        .zip(1..)
        .map(|(call, round)| Call {
            node: "player".to_owned(),
            round,
            request_hash: String::new(),
            messages: Vec::new(),
            reply: call.usage.map(|usage| ChatReply {
                usage: Some(usage),
                finish: FinishReason::from(call.finish.clone()),
                model: call.model.clone(),
                attempts: call.requests,
                ..ChatReply::default()
            }),
            error: None,
            attempts: call.requests,
            seconds: call.seconds,
            cost: Cost::of_request(call.cost_usd),
        })
        .collect()
}

fn gold(question: &EnvQuestion) -> Gold {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    if question.typed_answer.is_empty() && question.exe_ans.is_empty() {
        // Built before the environment kept gold as it was typed.
        return graded(Some(&question.answer));
    }
    Gold {
        answer: text(&question.typed_answer),
        program: text(&question.explanation),
        exe_ans: text(&question.exe_ans).map(|text| match literal(&text) {
            Some(number) => Value::Number(number),
            None => Value::Text(text),
        }),
        split: None,
    }
}

/// The gold that a truth tells of: mostly the executed value (`env build`), and
/// never the answer as it was typed, for that was rounded.
fn graded(truth: Option<&str>) -> Gold {
    Gold {
        exe_ans: truth.and_then(|truth| printed_value(&unboxed(truth))),
        ..Gold::default()
    }
}

/// A truth without its box: `14.136%` of `\boxed{14.136\%}`.
fn unboxed(truth: &str) -> String {
    let inside = truth
        .trim()
        .strip_prefix("\\boxed{")
        .and_then(|rest| rest.strip_suffix('}'));
    inside.unwrap_or(truth.trim()).replace("\\%", "%")
}

#[cfg(test)]
mod tests {
    use super::unboxed;

    #[test]
    fn a_truth_loses_its_box() {
        assert_eq!(unboxed(r"\boxed{14.136\%}"), "14.136%");
        assert_eq!(unboxed(r" \boxed{yes} "), "yes");
        assert_eq!(unboxed("6.1"), "6.1");
    }
}
