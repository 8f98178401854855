//! An environment's question as a run asks it.

use std::sync::Arc;

use crate::dataset::{Case, Document, Gold, Question, QuestionKey, RecordKind};
use crate::env_data::question_key;
use crate::run::PlannedQuestion;
use crate::score::files::filename_of;
use finqa_agents::solve::EpisodeQuestion;
use finqa_env::data::bare_question;

/// The identity of a question: its key, its cluster and its text. Ids alone may be missing
/// or repeated.
pub(super) type QuestionIdentity = (QuestionKey, String, String);

pub(super) fn identity_of(question: &Question) -> QuestionIdentity {
    let cluster = question.document.filename.clone();
    (question.key.clone(), cluster, question.text.clone())
}

/// The question at `index` of a run. The page itself is not available: the tools
/// show it. Questions about one page, or else one company, are not independent.
pub(super) fn planned(asked: &EpisodeQuestion, index: usize, gold: Gold) -> PlannedQuestion {
    let from_dataset = question_key(&asked.id);
    let filename = match &from_dataset {
        Some(key) => filename_of(&key.id).to_owned(),
        None => asked.company.clone(),
    };
    let key = from_dataset.unwrap_or_else(|| QuestionKey {
        id: asked.id.clone(),
        part: String::new(),
    });
    let kind = match key.id.starts_with("Double_") {
        true => RecordKind::Double,
        false => RecordKind::Single,
    };
    let document = Document {
        filename,
        id: key.id.clone(),
        ..Document::default()
    };
    PlannedQuestion {
        index,
        case: Arc::new(Case {
            question: Question {
                key,
                document: Arc::new(document),
                text: bare_question(&asked.text).to_owned(),
                history: Vec::new(),
            },
            gold,
        }),
        kind,
        epoch: 0,
        turns: None,
    }
}
