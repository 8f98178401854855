//! How a question was read and answered, as data for people (`ask --explain`).

use serde::Serialize;

/// Maximum number of candidates that an explanation lists for a figure, and of its programs. Set by
/// hand.
pub(crate) const LISTED: usize = 5;

/// How one question was read and answered, from the same reading and the same scores as the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// What the answer comes from.
    pub answered_from: AnswerSource,
    /// The operation that was read, in words; empty if the question was not understood.
    pub operation: String,
    /// The figures that the question asks for.
    pub figures: Vec<AskedFigure>,
    /// Words of the question that no operation and no label of the page meets.
    pub left_over: Vec<String>,
    /// Cells or sentences of the answer that are not among the candidates of a figure, such as the
    /// parts of a sum.
    pub parts: Vec<ExplainedFigure>,
    /// The best programs, best first, if the answer was chosen among programs.
    pub programs: Vec<ExplainedProgram>,
    /// True if the answer is sure; false without an answer.
    pub sure: bool,
    /// Why the answer is sure or why it is not.
    pub reasons: Vec<String>,
}

/// What an answer comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    #[default]
    Nothing,
    /// The cells whose labels fit the question.
    Labels,
    /// A sentence that states the figure.
    Sentence,
    /// The program that ranks first.
    Programs,
}

/// A figure that a question asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AskedFigure {
    /// Its name as the question has it.
    pub name: String,
    /// Other words of the question that its labels must have.
    pub qualifiers: Vec<String>,
    /// The periods that the question names for it; empty if it names none.
    pub periods: Vec<String>,
    /// The statement it must be in, the whole it is a part of, and what it leaves out.
    pub scope: Vec<String>,
    /// The cells that fit best, best first, and those that the answer takes.
    pub candidates: Vec<ExplainedFigure>,
}

/// A cell or a sentence, with what speaks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExplainedFigure {
    /// As the page prints it.
    pub value: String,
    /// Its place on the page: `r3c2`, `t5`.
    pub id: String,
    /// The label of its row, or the sentence.
    pub row: String,
    /// The heading of its column.
    pub column: String,
    /// The text above its table; empty on the page of the user's own table.
    pub table: String,
    /// True if it is in a primary statement, not in a note or another table.
    pub in_statement: bool,
    /// The words of the question that its labels have.
    pub meets: Vec<String>,
    /// The words of the question that its labels lack.
    pub lacks: Vec<String>,
    /// True if its labels have all words of the question, and others that make it another figure.
    pub says_more: bool,
    /// How well its labels fit; higher is better. `None` if it was not found by this score.
    pub score: Option<f64>,
    /// Its tag, if that means what the question asks for.
    pub tag: Option<String>,
    /// True if the answer takes it.
    pub taken: bool,
}

/// A program that can answer the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedProgram {
    pub program: String,
    /// Its result as it would be printed.
    pub value: String,
    /// The score of the choice; higher is better.
    pub score: f64,
    /// The name of the plan that made it.
    pub plan: &'static str,
    /// True if it is the answer.
    pub taken: bool,
}

impl Explanation {
    /// Records that the answer is not shown: no candidate counts as taken. Reasons for being sure
    /// are dropped, reasons for doubt are kept.
    pub fn withheld(&mut self) {
        self.answered_from = AnswerSource::Nothing;
        let cells = self.figures.iter_mut().flat_map(|of| &mut of.candidates);
        cells.for_each(|one| one.taken = false);
        self.programs.iter_mut().for_each(|one| one.taken = false);
        if self.sure {
            self.sure = false;
            self.reasons.clear();
        }
    }

    /// Adds reasons for doubt that are not yet known. An answer with one is not sure; the reasons
    /// that spoke for it are then dropped.
    pub fn add_doubts(&mut self, doubts: impl IntoIterator<Item = String>) {
        for doubt in doubts {
            if self.sure {
                self.sure = false;
                self.reasons.clear();
            }
            if !self.reasons.contains(&doubt) {
                self.reasons.push(doubt);
            }
        }
    }
}
