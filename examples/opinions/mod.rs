//! Answers of chat models, with the second opinions that a run would have had.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use finqa_agents::pair::{EmbeddedAgent, SecondOpinion, printed_value};
use finqa_core::number::Value;
use finqa_core::program::Program;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::EmbeddedWeights;
use finqa_score::dataset::{Case, HistoryEntry, HistorySource, Outcome, Question, Source, load};
use finqa_score::score::Row;
use finqa_score::score::files::{read_predictions, rescore};

/// The analysts that give the opinions: the built-in one, or one for each fold.
pub struct Opinions {
    analysts: Vec<EmbeddedAgent>,
    /// Index of the analyst that was not trained on a page; empty with the built-in one.
    of_page: HashMap<String, usize>,
}

impl Opinions {
    /// Reads the weights that the trainer wrote to `folds` with `--keep`. Without `folds`, uses the
    /// built-in weights, which were trained on every page.
    pub fn new(folds: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let Some(folder) = folds else {
            return Ok(Self {
                analysts: vec![EmbeddedAgent::default()],
                of_page: HashMap::new(),
            });
        };
        let of_page: HashMap<String, usize> =
            serde_json::from_slice(&std::fs::read(folder.join("folds.json"))?)?;
        let folds = of_page.values().max().map_or(0, |last| last + 1);
        let analysts = (0..folds).map(|fold| {
            let weights = EmbeddedWeights::read(&folder.join(fold.to_string()))?;
            Ok::<_, String>(EmbeddedAgent::new(EmbeddedAnalyst::with_weights(weights)))
        });
        Ok(Self {
            analysts: analysts.collect::<Result<_, _>>()?,
            of_page,
        })
    }

    /// The opinion on a question, if the analyst has one.
    fn on(&self, question: &Question) -> Result<Option<SecondOpinion>, String> {
        let page = &question.document.filename;
        let analyst = match self.analysts.len() {
            1 => self.analysts.first(),
            _ => self
                .of_page
                .get(page)
                .and_then(|fold| self.analysts.get(*fold)),
        };
        let analyst = analyst.ok_or_else(|| format!("{page} is in no fold"))?;
        Ok(analyst.opinion(question))
    }

    /// The answers of a file in the order of the records, each with its opinion if there is one. A
    /// turn's history is the model's own answers, as in a run, or the gold answers.
    pub fn answers(
        &self,
        predictions: &str,
        records: &str,
        gold_history: bool,
    ) -> Result<Vec<Row>, Box<dyn Error>> {
        let data = load(&Source::Path(PathBuf::from(records)))?;
        let rows = rescore(read_predictions(Path::new(predictions))?, Some(&data))?;
        let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.key.clone(), row)).collect();
        let mut out = Vec::new();
        for record in &data.records {
            let mut history = Vec::new();
            for case in record.cases() {
                let Some(mut row) = rows.remove(&case.question.key) else {
                    continue;
                };
                let is_turn = row.turn().is_some();
                let question = Question {
                    history: if is_turn { history.clone() } else { Vec::new() },
                    ..case.question.clone()
                };
                let value = value_of(&row);
                row.solution.opinion = self.on(&question)?.map(|opinion| SecondOpinion {
                    agrees: Some(
                        value
                            .as_ref()
                            .is_some_and(|it| opinion.is(it, &row.printed())),
                    ),
                    ..opinion
                });
                if row.outcome() == Outcome::Answered {
                    // A file may have only the predictions.
                    row.solution.answer.get_or_insert_default();
                }
                if is_turn {
                    history.push(entry(case, &row, value, gold_history));
                }
                out.push(row);
            }
        }
        Ok(out)
    }
}

/// The value of an answer: that of its program if it can be executed, otherwise the printed one.
fn value_of(row: &Row) -> Option<Value> {
    let executed = row.program().and_then(|program| {
        Program::parse(program)
            .ok()?
            .execute_unrounded(row.table())
            .ok()
    });
    executed.or_else(|| printed_value(&row.printed()))
}

fn entry(case: &Case, row: &Row, value: Option<Value>, gold: bool) -> HistoryEntry {
    HistoryEntry {
        question: case.question.text.clone(),
        value: if gold {
            case.gold.exe_ans.clone()
        } else {
            value
        },
        program: if gold {
            case.gold.program.clone()
        } else {
            row.program().map(str::to_owned)
        },
        label: None,
        source: if gold {
            HistorySource::Gold
        } else {
            HistorySource::Own
        },
    }
}
