//! An environment's question as a run asks it.

use std::sync::Arc;

use crate::dataset::{Case, Document, Gold, Question, QuestionKey, RecordKind};
use crate::env_build::question_key;
use crate::run::PlannedQuestion;
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
    pub(super) fn of_question(question: &Question) -> Self {
        Self {
            key: question.key.clone(),
            cluster: question.document.filename.clone(),
            text: question.text.clone(),
        }
    }

    /// The identity of the question that [`planned`] makes.
    pub(super) fn of_episode(asked: &EpisodeQuestion) -> Self {
        let (key, cluster) = match question_key(&asked.id) {
            Some(key) => {
                let cluster = filename_of(&key.id).to_owned();
                (key, cluster)
            }
            None => {
                let (id, part) = (asked.id.clone(), String::new());
                (QuestionKey { id, part }, asked.company.clone())
            }
        };
        Self {
            key,
            cluster,
            text: bare_question(&asked.text).to_owned(),
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
