//! Explains an answer from labels: what was read in the question, and the cells that fit best.

use super::compute::direct_answer::DirectAnswer;
use super::find::fit::FitFigure;
use super::find::{CLOSE, FigureExpr};
use super::page::table::Place;
use super::page::{Doubt, TableResult, Tables};
use super::question::asked::{Asked, Operation, Which};
use super::question::operand::Operand;
use super::words::same_word;
use crate::explanation::{AskedFigure, ExplainedFigure, Explanation, LISTED};
use crate::tables::words::{is_light, is_loose};

/// The names of answers that are computed although the question asks for one figure.
const COMPUTED: [&str; 2] = ["share", "measure"];

/// The texts above a table are cut to this many characters, set by hand.
const TITLE: usize = 60;

impl Asked {
    /// True if an answer is computed although the question asks for one figure.
    fn is_computed(&self, answer: &DirectAnswer) -> bool {
        self.operation == Operation::Figure && COMPUTED.contains(&answer.name)
    }

    /// The operation as people name it, for the output of `--explain`.
    fn in_words(&self) -> String {
        let which = |which: &Which| match which {
            Which::Period(_) => "the period".to_owned(),
            Which::Label(noun) => {
                let noun: Vec<&str> = noun.iter().map(|(_, said)| said.as_str()).collect();
                format!("the {}", noun.join(" "))
            }
        };
        let size = |largest: bool| if largest { "largest" } else { "smallest" };
        match &self.operation {
            Operation::Figure => "take the figure".to_owned(),
            Operation::Difference if self.relative => "relative change".to_owned(),
            Operation::Difference => "difference".to_owned(),
            Operation::Ratio if self.relative => "share, as a percentage".to_owned(),
            Operation::Ratio => "ratio".to_owned(),
            Operation::Compound => "compound growth rate".to_owned(),
            Operation::Sum => "sum".to_owned(),
            Operation::Average => "average".to_owned(),
            Operation::Extreme {
                largest,
                which: None,
            } => format!("find the {}", size(*largest)),
            Operation::Extreme {
                largest,
                which: Some(of),
            } => {
                format!("find {} with the {}", which(of), size(*largest))
            }
            Operation::Compare => "compare, yes or no".to_owned(),
            Operation::Ranked(ranking) => {
                let noun: Vec<&str> = ranking.noun.iter().map(|(_, said)| said.as_str()).collect();
                format!("rank the parts of a whole: {}", noun.join(" "))
            }
            Operation::Larger { largest } => {
                format!(
                    "which of two is {}",
                    if *largest { "larger" } else { "smaller" }
                )
            }
        }
    }
}

/// The cells that an answer is computed from, each once.
fn cells_of(answer: &DirectAnswer) -> Vec<Place> {
    let leaves = answer.exprs().flat_map(FigureExpr::leaves);
    let mut cells: Vec<Place> = Vec::new();
    for place in leaves.filter_map(|leaf| leaf.source) {
        if !cells.contains(&place) {
            cells.push(place);
        }
    }
    cells
}

impl Tables {
    /// How a question was read and which cells fit it, for the answer that was computed from the
    /// same reading.
    pub(super) fn explain(
        &self,
        asked: Option<&Asked>,
        unsettled: Option<&String>,
        answer: Option<&TableResult<DirectAnswer>>,
    ) -> Explanation {
        let mut out = Explanation::default();
        let found = answer.and_then(|answer| answer.as_ref().ok());
        let taken = found.map_or_else(Vec::new, cells_of);
        let operands: Vec<Operand> = match asked {
            Some(asked) => asked.operands.iter().map(|of| self.with_each(of)).collect(),
            None => Vec::new(),
        };
        if let Some(asked) = asked {
            out.operation = match found {
                Some(found) if asked.is_computed(found) => {
                    format!("compute the figure, as a {}", found.name)
                }
                _ => asked.in_words(),
            };
            out.figures = self.explain_operands(&operands, asked, &taken);
            out.left_over = self.left_over(&operands, asked);
        } else if let Some(found) = found {
            found.name.clone_into(&mut out.operation);
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
            Some(Ok(found)) => found.doubt.as_ref(),
            Some(Err(why)) => Some(why),
            None => None,
        };
        if found.is_some() && doubt.is_none() {
            out.sure = true;
            out.reasons = self.reasons_for(&operands, &out);
        } else {
            let doubts = self.doubts_of(&operands, doubt);
            out.add_doubts(doubts.chain(unsettled.cloned()));
        }
        out
    }

    /// Explains each operand, with the cells of the answer that belong to it: those whose labels
    /// have its words, and those whose labels have the words of no operand.
    fn explain_operands(
        &self,
        operands: &[Operand],
        asked: &Asked,
        taken: &[Place],
    ) -> Vec<AskedFigure> {
        let has = |of: &Operand, place: Place| self.words_met(of, place).1.is_empty();
        let figures = operands.iter().map(|of| {
            let own = taken.iter().copied().filter(|place| {
                has(of, *place) || !operands.iter().any(|other| has(other, *place))
            });
            self.explain_operand(of, asked, &own.collect::<Vec<Place>>())
        });
        figures.collect()
    }

    /// The words of the question that were not read, or that no label has.
    fn left_over(&self, operands: &[Operand], asked: &Asked) -> Vec<String> {
        let unused = asked.unused.iter().map(|word| word.trim().to_owned());
        let words = operands.iter().flat_map(|of| &of.words);
        let unknown = words.filter(|(stem, _)| !self.says(stem) && !is_loose(stem));
        unused
            .chain(unknown.map(|(_, said)| said.clone()))
            .collect()
    }

    /// The doubt about an answer, and those about each of its figures.
    fn doubts_of(
        &self,
        operands: &[Operand],
        doubt: Option<&Doubt>,
    ) -> impl Iterator<Item = String> {
        let figure = |of: &Operand| match self.figure(of, None, None) {
            Ok(amount) => amount.doubt,
            Err(why) => Some(why),
        };
        let others = operands
            .iter()
            .filter(|of| of.is_named())
            .filter_map(figure);
        let why = |doubt: Doubt| match doubt {
            Doubt::Missing(why) | Doubt::InText(why) => Some(why),
            Doubt::Open => None,
        };
        doubt.cloned().into_iter().chain(others).filter_map(why)
    }

    /// The reasons to trust an answer: where its cells are, and how well they fit.
    fn reasons_for(&self, operands: &[Operand], out: &Explanation) -> Vec<String> {
        let cells = || {
            out.figures
                .iter()
                .flat_map(|of| &of.candidates)
                .filter(|one| one.taken)
        };
        let mut reasons = Vec::new();
        if operands.iter().any(|of| !of.rows.is_empty()) {
            reasons.push("the question repeats the whole label of its row".to_owned());
        } else if cells().next().is_some() && cells().all(|one| one.lacks.is_empty()) {
            reasons.push("the labels of its figures have all words of the question".to_owned());
        }
        if cells().any(|one| one.tag.is_some()) {
            reasons.push("a tag says that its figure is the one asked for".to_owned());
        }
        if out.operation.starts_with("compute") {
            reasons.push("no figure of that name is printed, so its parts are taken".to_owned());
        }
        let rivals = out.figures.iter().any(|of| {
            let taken = || of.candidates.iter().filter(|one| one.taken);
            let score = taken()
                .filter_map(|one| one.score)
                .fold(f64::INFINITY, f64::min);
            let differs = |one: &ExplainedFigure| taken().all(|own| own.value != one.value);
            let mut others = of.candidates.iter().filter(|one| !one.taken);
            others.any(|one| one.score.is_some_and(|own| own >= score - CLOSE) && differs(one))
        });
        let none_fits = "no figure with another value fits as well";
        reasons.push(
            if rivals || cells().all(|one| one.score.is_none()) {
                "nothing speaks against it"
            } else {
                none_fits
            }
            .to_owned(),
        );
        reasons
    }

    /// What was read in the question for an operand, and the cells that fit it best. `taken` are
    /// the cells of the answer that belong to this operand.
    fn explain_operand(&self, of: &Operand, asked: &Asked, taken: &[Place]) -> AskedFigure {
        let names = of
            .names
            .iter()
            .map(|(one, said)| one.written(*said).to_owned());
        // All rows of an operand have the same label, so the first is enough.
        let rows = of.rows.iter().take(1).filter_map(|(table, row)| {
            Some(
                self.tables
                    .get(*table)?
                    .rows
                    .get(*row)?
                    .printed
                    .trim()
                    .to_owned(),
            )
        });
        let names: Vec<String> = names.chain(rows).collect();
        let mut words: Vec<String> = Vec::new();
        for (_, said) in &of.words {
            if !words.contains(said) {
                words.push(said.clone());
            }
        }
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
            candidates: self.explain_candidates(of, taken),
        }
    }

    /// The best cells for an operand, one of each row, and those that the answer takes.
    fn explain_candidates(&self, of: &Operand, taken: &[Place]) -> Vec<ExplainedFigure> {
        let fits = |one: &FitFigure| {
            of.spans.is_empty()
                || of.through
                || of
                    .spans
                    .iter()
                    .any(|span| self.fits(one.period.as_ref(), Some(&of.on_its_day(*span))))
                || taken.contains(&one.place())
        };
        let mut all = match of.rows.as_slice() {
            [] => self.candidates(of, None),
            rows => rows.iter().flat_map(|row| self.figures_of(*row)).collect(),
        };
        all.retain(fits);
        let is_taken = |one: &FitFigure| taken.contains(&one.place());
        // Keep one cell of each row: the one that the answer takes, otherwise the latest.
        let row = |one: &FitFigure| (one.table, one.row);
        let rank = |one: &FitFigure| (is_taken(one), one.period.map(|period| period.order()));
        let beaten = |one: &FitFigure| {
            let mut others = all.iter().filter(|other| row(other) == row(one));
            !is_taken(one) && others.any(|other| rank(other) > rank(one))
        };
        let mut kept: Vec<FitFigure> = Vec::new();
        for one in all.iter().filter(|one| !beaten(one)) {
            let known = kept.iter().any(|other| row(other) == row(one));
            if is_taken(one) || !known {
                kept.push(*one);
            }
        }
        let wanted = kept.iter().filter(|one| is_taken(one)).count();
        let mut free = LISTED.saturating_sub(wanted);
        kept.retain(|one| {
            let keeps = is_taken(one) || free > 0;
            free -= usize::from(!is_taken(one) && free > 0);
            keeps
        });
        let tagged = of.spans.iter().copied().map(Some).chain([None]);
        let tagged: Vec<Place> = tagged
            .filter_map(|span| Some(self.tagged(of, span)?.place()))
            .collect();
        let cell = |one: &FitFigure| {
            let place = one.place();
            let (meets, lacks) = self.words_met(of, place);
            ExplainedFigure {
                says_more: of.rows.is_empty() && lacks.is_empty() && !one.full,
                meets,
                lacks,
                // Rows named by their whole label have no score. Three decimals, for reading.
                score: of
                    .rows
                    .is_empty()
                    .then(|| (1000.0 * one.score).round() / 1000.0),
                tag: self
                    .tags
                    .get(&place)
                    .filter(|_| tagged.contains(&place))
                    .map(|tag| tag.element.clone()),
                taken: is_taken(one),
                ..self.explain_cell(place)
            }
        };
        kept.iter().map(cell).collect()
    }

    /// The words of an operand that the labels of a cell have, and those that they lack. A name
    /// with synonyms counts as present if the labels have any of them.
    fn words_met(&self, of: &Operand, place: Place) -> (Vec<String>, Vec<String>) {
        let table = self.table(place);
        let says = |word: &String| {
            let row = table.and_then(|table| table.rows.get(place.row));
            // The title of a statement does not name its rows.
            let of_title = table.is_some_and(|table| {
                table.statement.is_none() && table.title.iter().any(|own| same_word(own, word))
            });
            row.is_some_and(|row| row.says(word))
                || self.labels_of(place).any(|label| label.says(word))
                || of_title
        };
        let (mut meets, mut lacks) = (Vec::new(), Vec::new());
        for (stem, said) in &of.words {
            let list = if says(stem) { &mut meets } else { &mut lacks };
            if !list.contains(said) {
                list.push(said.clone());
            }
        }
        for (concept, said) in &of.names {
            let whole = |name: &Vec<String>| name.iter().all(|word| is_light(word) || says(word));
            let named = concept.names.get(*said).is_some_and(whole);
            let other = concept.names.iter().position(whole);
            let name = concept.written(*said);
            match (named, other) {
                (true, _) => meets.push(name.to_owned()),
                (false, Some(other)) => {
                    meets.push(format!("{name} (as {})", concept.written(other)))
                }
                (false, None) => lacks.push(name.to_owned()),
            }
        }
        (meets, lacks)
    }

    /// A cell with its labels. Its printed value is filled in from the document.
    fn explain_cell(&self, place: Place) -> ExplainedFigure {
        let table = self.table(place);
        let row = table.and_then(|table| table.rows.get(place.row));
        let column = table.and_then(|table| table.columns.get(place.column));
        let title = table.map_or("", |table| table.above.trim());
        let cell = self.cell(place);
        ExplainedFigure {
            value: cell.map_or_else(String::new, |cell| cell.literal().into_owned()),
            id: self.cell_id(place),
            row: row.map_or_else(String::new, |row| row.printed.trim().to_owned()),
            column: column.map_or_else(String::new, |column| column.printed.trim().to_owned()),
            table: match title.char_indices().nth(TITLE) {
                Some((end, _)) => title.get(..end).unwrap_or_default().to_owned() + "\u{2026}",
                None => title.to_owned(),
            },
            in_statement: table.is_some_and(|table| table.statement.is_some()),
            ..ExplainedFigure::default()
        }
    }
}

/// What a question says about an operand besides its name.
fn marks(of: &Operand, names: &[String]) -> Vec<String> {
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
    let said = |words: &mut dyn Iterator<Item = &String>| {
        words.cloned().collect::<Vec<String>>().join(" ")
    };
    let whole = of.of.as_ref();
    let scope = [
        of.statement.map(|named| format!("in the {}", named.name())),
        whole.map(|whole| format!("part of {}", whole.spelled())),
        Some(said(&mut of.except.iter().map(|(_, said)| said))),
        Some(said(&mut asked.apart.iter()))
            .filter(|of| !of.is_empty())
            .map(|of| "without ".to_owned() + &of),
    ];
    let scope = scope.into_iter().flatten();
    scope.filter(|part| !part.is_empty()).collect()
}
