//! Turns an environment's questions into planned questions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::env_build::question_key;
use finqa_agents::solve::EpisodeQuestion;
use finqa_env::data::bare_question;
use finqa_env::episode::QuestionOrder;
use finqa_journal::run::PlannedQuestion;
use finqa_score::dataset::{
    Case, Document, Gold, Question, QuestionKey, QuestionKind, RecordKind, filename_in_id,
};

/// The questions of an environment, in the environment's order.
pub(super) struct QuestionList {
    questions: Vec<Question>,
    /// The first index of each question; an environment may repeat one.
    places: HashMap<QuestionIdentity, usize>,
}

impl QuestionList {
    pub(super) fn new(asked: impl Iterator<Item = EpisodeQuestion>) -> Self {
        let questions: Vec<Question> = asked.map(|asked| question_of(&asked)).collect();
        let mut places = HashMap::new();
        for (at, question) in questions.iter().enumerate() {
            places.entry(identity(question)).or_insert(at);
        }
        Self { questions, places }
    }

    /// The first index of a question; `None` if the environment does not have the question.
    pub(super) fn place(&self, question: &Question) -> Option<usize> {
        self.places.get(&identity(question)).copied()
    }

    /// Plans the first `n` questions, or all, in an order drawn from `seed`, or in the
    /// environment's order. Each question is planned once. `gold` returns the gold of the question
    /// at an index.
    pub(super) fn plan(
        &self,
        seed: Option<u64>,
        n: Option<usize>,
        gold: impl Fn(usize) -> Gold,
    ) -> Vec<PlannedQuestion> {
        let mut order = match seed {
            Some(seed) => QuestionOrder::new(self.questions.len(), seed),
            None => QuestionOrder::in_file_order(self.questions.len()),
        };
        let order = self.questions.iter().filter_map(|_| order.next_index());
        let asked = order.filter_map(|at| Some((at, self.questions.get(at)?)));
        asked
            .filter(|(at, question)| self.place(question) == Some(*at))
            .take(n.unwrap_or(usize::MAX))
            .enumerate()
            .map(|(index, (at, question))| planned(question.clone(), index, gold(at)))
            .collect()
    }
}

/// Key and text of a question. The key alone is not enough, because ids may be missing or repeated.
type QuestionIdentity = (QuestionKey, String);

pub(super) fn identity(question: &Question) -> QuestionIdentity {
    (question.key.clone(), question.text.clone())
}

/// The question that an episode asks. Its document has no content, because the tools show the page.
/// Its file name is that of the page, or the company if the id names no page. Statistics are
/// clustered by it, because questions about one page or company are not independent.
pub(super) fn question_of(asked: &EpisodeQuestion) -> Question {
    let (key, filename) = match question_key(&asked.id) {
        Some(key) => {
            let filename = filename_in_id(&key.id).to_owned();
            (key, filename)
        }
        None => {
            let (id, part) = (asked.id.clone(), String::new());
            (QuestionKey { id, part }, asked.company.clone())
        }
    };
    let document = Document {
        filename,
        id: key.id.clone(),
        ..Document::default()
    };
    Question {
        key,
        kind: QuestionKind::StandAlone,
        document: Arc::new(document),
        text: bare_question(&asked.text).to_owned(),
        history: Vec::new(),
    }
}

/// A planned question with the index `index` in the run's plan.
pub(super) fn planned(question: Question, index: usize, gold: Gold) -> PlannedQuestion {
    PlannedQuestion {
        index,
        // The ids of other data do not name a kind. Every question of an episode is asked alone.
        kind: RecordKind::in_id(&question.key.id).unwrap_or(RecordKind::Single),
        case: Arc::new(Case { question, gold }),
        epoch: 0,
        turns: None,
    }
}
