//! An environment's questions as a run asks them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dataset::{Case, Document, Gold, Question, QuestionKey, RecordKind};
use crate::env_build::question_key;
use crate::run::PlannedQuestion;
use crate::score::files::filename_of;
use finqa_agents::solve::EpisodeQuestion;
use finqa_env::data::bare_question;
use finqa_env::episode::QuestionOrder;

/// The questions of an environment, in its order.
pub(super) struct QuestionList {
    questions: Vec<EpisodeQuestion>,
    /// The first place of each: an environment may repeat one.
    places: HashMap<QuestionIdentity, usize>,
}

impl QuestionList {
    pub(super) fn new(questions: Vec<EpisodeQuestion>) -> Self {
        let mut places = HashMap::new();
        for (at, question) in questions.iter().enumerate() {
            let key = QuestionIdentity::of_episode(question);
            places.entry(key).or_insert(at);
        }
        Self { questions, places }
    }

    /// The place of a question.
    pub(super) fn place(&self, question: &Question) -> Option<usize> {
        let key = QuestionIdentity::of_question(question);
        self.places.get(&key).copied()
    }

    /// The first `n` questions, or all of them, in the order of a seed, or else in their own;
    /// each is planned once. `gold` is called with its place.
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
        let asked = order.filter_map(|at| {
            let question = self.questions.get(at)?;
            let first = self.places.get(&QuestionIdentity::of_episode(question));
            (first == Some(&at)).then_some((at, question))
        });
        asked
            .take(n.unwrap_or(usize::MAX))
            .enumerate()
            .map(|(index, (at, asked))| planned(asked, index, gold(at)))
            .collect()
    }
}

/// The identity of a question: its key, its cluster and its text. Ids alone may be missing
/// or repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct QuestionIdentity {
    key: QuestionKey,
    cluster: String,
    text: String,
}

impl QuestionIdentity {
    fn of_question(question: &Question) -> Self {
        Self {
            key: question.key.clone(),
            cluster: question.document.filename.clone(),
            text: question.text.clone(),
        }
    }

    /// The identity of the question that [`planned`] makes.
    fn of_episode(asked: &EpisodeQuestion) -> Self {
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

/// True if an episode asks this question.
pub(super) fn asks(asked: &EpisodeQuestion, question: &Question) -> bool {
    QuestionIdentity::of_episode(asked) == QuestionIdentity::of_question(question)
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
