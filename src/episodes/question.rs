//! An environment's question as a run asks it.

use std::sync::Arc;

use crate::dataset::{Case, Document, Gold, Question, QuestionKey, RecordKind};
use crate::env_build::question_key;
use crate::run::{PlannedQuestion, Row};
use crate::score::files::filename_of;
use finqa_agents::solve::EpisodeQuestion;
use finqa_env::data::bare_question;

/// The identity of a question: its key, its cluster and its text. Ids alone may be missing
/// or repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct QuestionIdentity {
    key: QuestionKey,
    cluster: String,
    text: String,
}

impl QuestionIdentity {
    fn of(key: &QuestionKey, cluster: &str, text: &str) -> Self {
        Self {
            key: key.clone(),
            cluster: cluster.to_owned(),
            text: text.to_owned(),
        }
    }

    pub(super) fn of_question(question: &Question) -> Self {
        Self::of(&question.key, &question.document.filename, &question.text)
    }

    pub(super) fn of_row(row: &Row) -> Self {
        Self::of(&row.key, &row.filename, &row.question)
    }

    /// The identity of the question that [`planned`] makes.
    pub(super) fn of_episode(asked: &EpisodeQuestion) -> Self {
        let text = bare_question(&asked.text);
        match question_key(&asked.id) {
            Some(key) => Self::of(&key, filename_of(&key.id), text),
            None => {
                let (id, part) = (asked.id.clone(), String::new());
                Self::of(&QuestionKey { id, part }, &asked.company, text)
            }
        }
    }
}

/// The question at `index` of a run. The page itself is not available: the tools
/// show it. Questions about one page, or else one company, are not independent.
pub(super) fn planned(asked: &EpisodeQuestion, index: usize, gold: Gold) -> PlannedQuestion {
    let QuestionIdentity { key, cluster, text } = QuestionIdentity::of_episode(asked);
    let kind = match key.id.starts_with("Double_") {
        true => RecordKind::Double,
        false => RecordKind::Single,
    };
    let document = Document {
        filename: cluster,
        id: key.id.clone(),
        ..Document::default()
    };
    PlannedQuestion {
        index,
        case: Arc::new(Case {
            question: Question {
                key,
                document: Arc::new(document),
                text,
                history: Vec::new(),
            },
            gold,
        }),
        kind,
        epoch: 0,
        turns: None,
    }
}
