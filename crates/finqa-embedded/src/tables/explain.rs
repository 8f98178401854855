//! Explains an answer from labels: what was read in the question, and the cells that fit best.

use finqa_core::page::period::Period;
use finqa_core::text::cut;

use super::Turn;
use super::compute::direct_answer::DirectAnswer;
use super::compute::text_answer::TEXT;
use super::find::fit::FitFigure;
use super::find::spelled;
use super::page::table::Place;
use super::page::{Doubt, TableResult, Tables};
use super::question::operand::Operand;
use super::question::request::{Asked, Operation, Which};
use super::words::{is_light, is_loose, same_word};
use crate::distinct;
use crate::explanation::{AskedFigure, ExplainedFigure, Explanation, LISTED};

/// The texts above a table are cut to this many characters.
const TITLE: usize = 60;

impl Asked {
    /// The operation as people name it, for the output of `--explain`.
    fn in_words(&self) -> String {
        let words = match &self.operation {
            Operation::Figure => "take the figure",
            Operation::Difference if self.relative => "relative change",
            Operation::Difference => "difference",
            Operation::Ratio if self.relative => "share, as a percentage",
            Operation::Ratio => "ratio",
            Operation::Compound => "compound growth rate",
            Operation::Sum => "sum",
            Operation::Average => "average",
            Operation::Exists => "whether there is an amount",
            Operation::Compare => "compare, yes or no",
            Operation::Larger { largest: true } => "which of two is larger",
            Operation::Larger { largest: false } => "which of two is smaller",
            Operation::Extreme { largest, which } => {
                let size = if *largest { "largest" } else { "smallest" };
                return match which {
                    None => format!("find the {size}"),
                    Some(Which::Period(_)) => format!("find the period with the {size}"),
                    Some(Which::Label(noun)) => {
                        format!("find the {} with the {size}", spelled(noun))
                    }
                };
            }
            Operation::Ranked(ranking) => {
                return format!("rank the parts of a whole: {}", spelled(&ranking.noun));
            }
        };
        words.to_owned()
    }
}

impl Tables {
    /// How a question was read and which cells fit it, for the answer that was computed from the
    /// same reading.
    pub(super) fn explain(&self, turn: &Turn, answer: &TableResult<DirectAnswer>) -> Explanation {
        let mut out = Explanation::default();
        let found = answer.as_ref().ok();
        let is_text = found.is_some_and(|found| found.name == TEXT);
        if is_text {
            "take the text of a cell".clone_into(&mut out.operation);
        }
        let asked = turn.asked.as_ref().filter(|_| !is_text);
        let taken: Vec<Place> = distinct(found.into_iter().flat_map(DirectAnswer::places));
        let operands = asked.into_iter().flat_map(|asked| &asked.operands);
        let operands: Vec<Operand> = operands.map(|of| self.with_each(of)).collect();
        if let Some(asked) = asked {
            // The question asks for one figure, which the page does not print.
            let is_computed = |found: &&DirectAnswer| {
                asked.operation == Operation::Figure && ["share", "measure"].contains(&found.name)
            };
            out.operation = match found.filter(is_computed) {
                Some(found) => format!("compute the figure, as a {}", found.name),
                None => asked.in_words(),
            };
            let figures = operands.iter();
            let figures = figures.map(|of| self.explain_operand(of, &operands, asked, &taken));
            out.figures = figures.collect();
            out.left_over = self.left_over(&operands, asked);
        }
        let shown = |place: &Place| {
            let mut candidates = out.figures.iter().flat_map(|of| &of.candidates);
            candidates.any(|one| one.id == self.cell_id(*place))
        };
        let rest = taken.iter().filter(|place| !shown(place)).take(LISTED);
        let rest = rest.map(|place| ExplainedFigure {
            taken: true,
            ..self.explain_cell(*place)
        });
        out.parts = rest.collect();
        let doubt = match answer {
            Ok(found) => found.doubt.as_ref(),
            Err(why) => Some(why),
        };
        if let Some(doubt) = doubt {
            let doubts = self.doubts_of(&operands, doubt);
            out.add_doubts(doubts.chain(turn.unsettled.clone()));
        } else {
            out.sure = true;
            out.reasons = reasons_for(&operands, &out);
        }
        out
    }

    /// The words of the question that were not read, or that no label has.
    fn left_over(&self, operands: &[Operand], asked: &Asked) -> Vec<String> {
        let unused = asked.unused.iter().map(|word| word.trim().to_owned());
        let words = operands.iter().flat_map(|of| &of.words);
        let unknown = words.filter(|word| !self.says(&word.stem) && !is_loose(&word.stem));
        let unknown = unknown.map(|word| word.text.clone());
        unused.chain(unknown).collect()
    }

    /// The doubt about an answer, and those about each of its figures.
    fn doubts_of(&self, operands: &[Operand], doubt: &Doubt) -> impl Iterator<Item = String> {
        let named = operands.iter().filter(|of| of.is_named());
        let others = named.filter_map(|of| match self.figure(of, None) {
            Ok(amount) => amount.doubt,
            Err(why) => Some(why),
        });
        let doubts = std::iter::once(doubt.clone()).chain(others);
        doubts.filter_map(Doubt::why)
    }

    /// What was read in the question for one of the operands, and the cells that fit it best.
    /// `taken` are the cells of the answer.
    fn explain_operand(
        &self,
        of: &Operand,
        operands: &[Operand],
        asked: &Asked,
        taken: &[Place],
    ) -> AskedFigure {
        // A cell belongs to the operands whose words its labels have, otherwise to all operands.
        let has = |of: &Operand, place: Place| self.words_met(of, place).1.is_empty();
        let is_own = |at: &Place| has(of, *at) || !operands.iter().any(|other| has(other, *at));
        let own: Vec<Place> = taken.iter().copied().filter(is_own).collect();
        let names = of.names.iter().map(|one| one.name.written);
        // All rows of an operand have the same label, so the first is enough.
        let row = of.rows.first().and_then(|place| self.row(*place));
        let label = row.map(|row| row.printed.trim());
        let names: Vec<&str> = names.chain(label).collect();
        let words = distinct(of.words.iter().map(|word| word.text.clone()));
        let marks = marks(of, &names);
        let (name, qualifiers) = if names.is_empty() {
            (words.join(" "), marks)
        } else {
            (names.join(" "), [words, marks].concat())
        };
        AskedFigure {
            name,
            qualifiers,
            periods: of.spans.iter().map(ToString::to_string).collect(),
            scope: scope(of, asked),
            candidates: self.explain_candidates(of, &own),
        }
    }

    /// The best cells for an operand, and those that the answer takes. Of a row, only one is listed
    /// unless the answer takes several.
    fn explain_candidates(&self, of: &Operand, taken: &[Place]) -> Vec<ExplainedFigure> {
        let fits = |one: &FitFigure| {
            let is_of = |span: &Period| self.fits(one.period, Some(of.on_its_day(*span)));
            let in_period = of.spans.is_empty() || of.through || of.spans.iter().any(is_of);
            in_period || taken.contains(&one.place)
        };
        let mut all = self.fitting_figures(of, None);
        all.retain(fits);
        let is_taken = |one: &FitFigure| taken.contains(&one.place);
        // A row from which the answer takes no cell is listed once, by its best cell.
        let mut kept: Vec<FitFigure> = Vec::new();
        for one in all {
            let mut listed = kept.iter().map(|other| &other.place).chain(taken);
            let is_known = listed.any(|other| other.shares_row(one.place));
            if is_taken(&one) || kept.len() < LISTED && !is_known {
                kept.push(one);
            }
        }
        let tagged = of.spans.iter().copied().map(Some).chain([None]);
        let tagged = tagged.filter_map(|span| self.tagged(of, span));
        let tagged: Vec<Place> = tagged.map(|one| one.place).collect();
        let cell = |one: &FitFigure| {
            let place = one.place;
            let (meets, lacks) = self.words_met(of, place);
            let tag = self.tags.get(&place).filter(|_| tagged.contains(&place));
            let scored = of.rows.is_empty();
            ExplainedFigure {
                says_more: scored && lacks.is_empty() && !one.full,
                meets,
                lacks,
                // Rows named by their whole label have no score. Three decimals, for reading.
                score: scored.then(|| (1000.0 * one.score).round() / 1000.0),
                tag: tag.map(|tag| tag.element.clone()),
                taken: is_taken(one),
                ..self.explain_cell(place)
            }
        };
        kept.iter().map(cell).collect()
    }

    /// The words of an operand that the labels of a cell have, and those that they lack. A name
    /// with synonyms counts as present if the labels have any of them.
    fn words_met(&self, of: &Operand, place: Place) -> (Vec<String>, Vec<String>) {
        // The title of a statement does not name its rows.
        let note = self.table(place).filter(|table| table.statement.is_none());
        let says = |word: &String| {
            self.is_labelled(place, word)
                || note.is_some_and(|table| table.title.iter().any(|own| same_word(own, word)))
        };
        let words = |met: bool| {
            let words = of.words.iter().filter(|word| says(&word.stem) == met);
            distinct(words.map(|word| word.text.clone()))
        };
        let (mut meets, mut lacks) = (words(true), words(false));
        let says_it = |word: &String| is_light(word) || says(word);
        for one in &of.names {
            let named = one.name.stems.iter().all(says_it);
            let name = one.name.written.to_owned();
            let mut names = one.concept.names.iter();
            match names.find(|name| name.stems.iter().all(says_it)) {
                _ if named => meets.push(name),
                Some(other) => meets.push(format!("{name} (as {})", other.written)),
                None => lacks.push(name),
            }
        }
        (meets, lacks)
    }

    /// A cell with its labels. Its printed value is filled in from the document.
    fn explain_cell(&self, place: Place) -> ExplainedFigure {
        let (table, row, column) = (self.table(place), self.row(place), self.column(place));
        let title = table.map_or("", |table| table.above.trim());
        let cell = self.cell(place);
        ExplainedFigure {
            value: cell.map_or_else(String::new, |cell| cell.bare().to_owned()),
            id: self.cell_id(place),
            row: row.map_or_else(String::new, |row| row.printed.trim().to_owned()),
            column: column.map_or_else(String::new, |column| column.printed.trim().to_owned()),
            table: cut(title, TITLE, "…"),
            in_statement: table.is_some_and(|table| table.statement.is_some()),
            ..ExplainedFigure::default()
        }
    }
}

/// The reasons to trust an answer: where its cells are, and how well they fit.
fn reasons_for(operands: &[Operand], out: &Explanation) -> Vec<String> {
    let cells = out.figures.iter().flat_map(|of| &of.candidates);
    let cells: Vec<&ExplainedFigure> = cells.filter(|one| one.taken).collect();
    let mut reasons = Vec::new();
    if operands.iter().any(|of| !of.rows.is_empty()) {
        reasons.push("the question repeats the whole label of its row");
    } else if !cells.is_empty() && cells.iter().all(|one| one.lacks.is_empty()) {
        reasons.push("the labels of its figures have all words of the question");
    }
    if cells.iter().any(|one| one.tag.is_some()) {
        reasons.push("a tag says that its figure is the one asked for");
    }
    if out.operation.starts_with("compute") {
        reasons.push("no figure of that name is printed, so its parts are taken");
    }
    // If another figure fits as well, an answer by its score is in doubt.
    let scored = cells.iter().any(|one| one.score.is_some());
    reasons.push(if scored {
        "no figure with another value fits as well"
    } else {
        "nothing speaks against it"
    });
    reasons.into_iter().map(str::to_owned).collect()
}

/// What a question says about an operand besides its name.
fn marks(of: &Operand, names: &[&str]) -> Vec<String> {
    let total = of.total && !names.iter().any(|name| name.contains("total"));
    let marks = [
        (total, "total"),
        (of.percent, "as a percentage"),
        (of.balance, "balance"),
        (of.counts, "how many"),
    ];
    let marks = marks.into_iter().filter(|(is, _)| *is);
    marks.map(|(_, said)| said.to_owned()).collect()
}

/// The part of the page or of the company that a question limits an operand to.
fn scope(of: &Operand, asked: &Asked) -> Vec<String> {
    let whole = of.whole.as_ref();
    let scope = [
        of.statement.map(|named| format!("in the {}", named.name())),
        whole.map(|whole| format!("part of {}", whole.spelled())),
        (!of.except.is_empty()).then(|| spelled(&of.except)),
        (!asked.left_out.is_empty()).then(|| format!("without {}", asked.left_out.join(" "))),
    ];
    scope.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::words::SaidWord;

    /// The name was printed once for each of its stems.
    #[test]
    fn a_name_of_several_words_is_printed_once() {
        let words = [
            ("net", "net sales"),
            ("sale", "net sales"),
            ("type", "type"),
        ];
        let noun = words.map(|(stem, text)| SaidWord::new(stem, text)).to_vec();
        let which = Some(Which::Label(noun));
        let largest = true;
        let asked = Asked::new(Operation::Extreme { largest, which }, Vec::new());
        assert_eq!(asked.in_words(), "find the net sales type with the largest");
    }
}
