//! Scores how well the labels of a figure fit the words of a question.
//!
//! - In a report: the share, by weight, of the reading's words that the labels have, minus what the
//!   labels of the row and the column and the section say in addition, plus a bonus for a primary
//!   statement. `fit` then adds a bonus for the question's own words, and subtracts for a
//!   percentage or an amount that is not asked for.
//! - In a single table, whose labels must have all words of the reading: minus the cost of each
//!   word that is not asked for.

use finqa_core::page::Statement;

use super::fit::{CHANGES, FitFigure, HEAVY};
use crate::reading::outflow::names_cost;
use crate::tables::page::table::{Label, Place, ReportColumn, ReportRow, ReportTable, SCOPES};
use crate::tables::page::word_weights::Weights;
use crate::tables::words::{Stems, is_light, is_loose, same_word};

/// Words of a label that do not make it another figure: "Sales, unaudited" are sales.
static UNMEANT: Stems =
    Stems::new("expense period year quarter group abstract note unaudited successor predecessor");

/// Words of a section that say where in a statement a row is, but not whose figures these are.
static STRUCTURAL: Stems = Stems::new(
    "assets liabilities equity current noncurrent non operating investing financing activities \
     cash flow flows costs expenses revenue revenues sales income earnings loss other statement \
     adjustments reconcile provided used change changes per share shares stockholders \
     shareholders common stock capital basic diluted commitments contingencies continuing \
     operations partners members deficit class b calculation numerator denominator reporting \
     information",
);

/// Words of a section that would name another figure if the row itself had them: "operating".
static SECTION_STEMS: Stems = Stems::new("operating net gross cash adjustments provided used");

/// Words of a section in a primary statement whose rows are only a part of the company's figures
/// ("Discontinued operations") or changes of them.
static PARTS: Stems = Stems::new(
    "discontinued held sale segment parent guarantor noncontrolling company group subsidiary \
        weighted average number computing computation change changes increase decrease",
);

/// Words of a question that the row of any cost answers: "how much was spent on rent".
static COST_STEMS: Stems = Stems::new("expense cost charge spending");

/// Words of a question that say no more than that a figure is of a schedule of years ahead.
static DUE: Stems = Stems::new(
    "payment payments due expected maturity maturities mature matures maturing scheduled schedule \
     future estimated owed minimum",
);

/// Words of figures that are the same with "net" and without it.
static SALES_STEMS: Stems = Stems::new("sales revenue");

/// Share of a word's weight that counts if it is not in the row's own label but in brackets, the
/// section or the heading (0.9), or only in the title (0.6).
const ASIDE: f64 = 0.9;
const IN_TITLE: f64 = 0.6;

/// Score that is lost if the question has no word of the label, the heading or the section; if it
/// has some of the words, in proportion.
const UNASKED_LABEL: f64 = 0.35;
const UNASKED_HEADING: f64 = 0.25;
const UNASKED_SECTION: f64 = 0.06;

/// Factor of a word's weight if the label lacks it but need not have it, such as "group".
const MISSING_SOFT: f64 = 0.1;

/// Bonus for a figure of a primary statement over one of a note.
const STATEMENT: f64 = 0.08;

/// The labels of a figure in a report, and a way to say an operand.
struct Comparison<'a> {
    table: &'a ReportTable,
    row: &'a ReportRow,
    column: &'a ReportColumn,
    /// The words of the row's own label.
    own: Vec<String>,
    reading: &'a [String],
    weights: &'a Weights,
}

/// The reason why a figure does not fit a question in full.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// Stems of the question that no label has.
    Lacks(Vec<String>),
    /// A label of the row or the column that says more than the question.
    SaysMore(String),
    /// The headings above the row, which say more.
    Under(String),
    /// A word of the title that makes it another company's or another kind of figure.
    Titled(String),
}

impl Misfit {
    /// The number of words of the question that no label has.
    pub(crate) fn lacking(&self) -> usize {
        match self {
            Self::Lacks(stems) => stems.len(),
            _ => 0,
        }
    }
}

impl ReportTable {
    /// A figure of a single table with its fit to a reading. It is full if the labels say no more
    /// than the question. `None` unless every word of the reading is in one of the two labels. A
    /// label that has none of the words costs less if it is a total.
    pub(crate) fn fit_in_full(&self, figure: FitFigure, reading: &[String]) -> Option<FitFigure> {
        let row = self.rows.get(figure.place.row)?;
        let column = self.columns.get(figure.place.column)?;
        let says = |word: &String| row.says(word) || column.label.says(word);
        let loose = |word: &String| is_loose(word) || self.is_in_corner(word);
        if !reading.iter().all(|word| says(word) || loose(word)) {
            return None;
        }
        // The cost of a label, and whether it says more than the question.
        let cost = |label: &Label, asked: bool| {
            if !label.words.is_empty() && !asked {
                let total = label.total && !row.may_be_name;
                return (if total { HEAVY / 2.0 } else { HEAVY }, false);
            }
            let unasked = |own: &&String| !reading.iter().any(|word| same_word(own, word));
            let costs = label.words.iter().filter(unasked);
            let costs = costs.map(|own| if is_light(own) { 1.0 } else { HEAVY });
            let cost: f64 = costs.sum();
            (cost, cost >= HEAVY)
        };
        let (of_row, more) = cost(&row.label, reading.iter().any(|word| row.says(word)));
        let of_column = reading.iter().any(|word| column.label.says(word));
        let (of_column, also_more) = cost(&column.label, of_column);
        let full = !more && !also_more;
        Some(FitFigure {
            score: -of_row - of_column,
            full,
            unqualified: full,
            ..figure
        })
    }

    /// A figure of a report with its fit to a reading. `None` if no label names the figure.
    pub(crate) fn fit(
        &self,
        figure: FitFigure,
        reading: &[String],
        weights: &Weights,
    ) -> Option<FitFigure> {
        self.compared(figure.place, reading, weights)?.fit(figure)
    }

    /// The reason why a figure of a report does not fit a reading in full: the words that no label
    /// has, or else a label that says more. `None` if it fits, or if the place has no labels.
    pub(crate) fn misfit(
        &self,
        place: Place,
        reading: &[String],
        weights: &Weights,
    ) -> Option<Misfit> {
        self.compared(place, reading, weights)?.misfit()
    }

    fn compared<'a>(
        &'a self,
        place: Place,
        reading: &'a [String],
        weights: &'a Weights,
    ) -> Option<Comparison<'a>> {
        let row = self.rows.get(place.row)?;
        // In a balance sheet, "net of allowance" is a part of the row's name and not another
        // figure, and so is "net of returns" behind "sales".
        let balance = self.statement == Some(Statement::Balances);
        let deducted = |word: &str| row.label.deducted.iter().any(|own| own == word);
        let named = row.label.words.iter().filter(|word| !deducted(word));
        let is_sales =
            |word: &String| SALES_STEMS.contains(word) || word == "net" || is_light(word);
        let by_name = balance || named.clone().all(is_sales);
        let own = row.label.words.iter();
        let own = own.filter(|word| !(by_name && deducted(word)));
        Some(Comparison {
            table: self,
            row,
            column: self.columns.get(place.column)?,
            own: own.cloned().collect(),
            reading,
            weights,
        })
    }
}

impl Comparison<'_> {
    /// The figure with its fit; `None` if no label names it.
    fn fit(&self, figure: FitFigure) -> Option<FitFigure> {
        let (row, column, reading) = (self.row, self.column, self.reading);
        let (share, missing) = self.found()?;
        let mut label = self.unasked(&self.own);
        if self.is_other_figure() {
            // Above 0, so that such a figure never fits in full.
            label += 0.1;
        }
        let heading = self.unasked(&column.label.words);
        let changes = |word: &String| CHANGES.contains(word) && !reading.contains(word);
        let changes = f64::from(u8::from(row.section.iter().any(changes)));
        let section = self.unasked(&row.section) + changes;
        let statement = self.table.statement.map_or(0.0, |_| STATEMENT);
        // A row without a label is a part of the row above it.
        let unnamed = row.printed.trim().is_empty() && column.label.words.is_empty();
        // "The allowance" does not mean the receivables net of it.
        let net = reading.iter().any(|word| word == "net");
        let deducted = !net && reading.iter().any(|word| row.label.deducted.contains(word));
        let full = !missing && label <= 0.0 && heading <= 0.0 && !unnamed && !deducted;
        let mut qualifiers = self.table.qualifiers.iter();
        let plain =
            self.unasked(&self.of_whom()) <= 0.0 && qualifiers.all(|word| reading.contains(word));
        Some(FitFigure {
            score: share
                - UNASKED_LABEL * label
                - UNASKED_HEADING * heading
                - UNASKED_SECTION * section
                + statement,
            full,
            unqualified: full && plain,
            in_plain_section: self.table.statement != Some(Statement::Flows)
                || row.section.iter().all(|word| {
                    let asked = reading.contains(word) || STRUCTURAL.contains(word);
                    asked || self.weights.is_soft(word)
                }),
            extra: self.extra(),
            ..figure
        })
    }

    /// The reason why the figure does not fit in full: missing words, or else a label that says
    /// more.
    fn misfit(&self) -> Option<Misfit> {
        let lacking = |word: &&String| self.credit_of(word).0 <= 0.0 && !self.can_lack(word);
        let lacking: Vec<String> = self.reading.iter().filter(lacking).cloned().collect();
        let more = |own: &[String]| self.unasked(own) > 0.0;
        let mut qualifiers = self.table.qualifiers.iter();
        let qualifier = qualifiers.find(|word| !self.reading.contains(word));
        if !lacking.is_empty() {
            Some(Misfit::Lacks(lacking))
        } else if more(&self.own) || self.is_other_figure() {
            Some(Misfit::SaysMore(self.row.printed.trim().to_owned()))
        } else if more(&self.column.label.words) {
            Some(Misfit::SaysMore(self.column.printed.trim().to_owned()))
        } else if more(&self.of_whom()) {
            Some(Misfit::Under(self.row.section_text.to_string()))
        } else {
            qualifier.map(|word| Misfit::Titled(word.clone()))
        }
    }

    /// The share of a label's weight that is in words the question lacks, from 0 to 1.
    fn unasked(&self, own: &[String]) -> f64 {
        let weigh = |words: &mut dyn Iterator<Item = &String>| -> f64 {
            words.map(|word| self.weights.of(word)).sum()
        };
        let all = weigh(&mut own.iter().filter(|word| !is_light(word)));
        let of_cost = || self.reading.iter().any(|word| COST_STEMS.contains(word));
        // "Charges" are costs, so a question for costs asks for them.
        let asked = |word: &str| word.starts_with("charg") && of_cost();
        let meant = |word: &&String| {
            let light = is_light(word) || UNMEANT.contains(*word);
            !light && !self.weights.is_of_company(word) && !self.reading.contains(word)
        };
        let mut left = own.iter().filter(meant).filter(|word| !asked(word));
        let left = weigh(&mut left);
        if all > 0.0 { left / all } else { 0.0 }
    }

    /// The share, by weight, of the reading's words that the labels have, and whether one that must
    /// be there is missing. `None` if no label names the figure.
    fn found(&self) -> Option<(f64, bool)> {
        let (mut all, mut found, mut named, mut missing) = (0.0, 0.0, false, false);
        for word in self.reading {
            let (share, names) = self.credit_of(word);
            named |= names;
            let mut weight = self.weights.of(word);
            if share <= 0.0 && self.can_lack(word) {
                weight *= MISSING_SOFT;
            } else {
                missing |= share <= 0.0;
            }
            all += weight;
            found += weight * share;
        }
        (named && all > 0.0).then(|| (found / all, missing))
    }

    /// The share of a word's weight that counts, by the label that has it, and whether the word
    /// names the figure there.
    fn credit_of(&self, word: &String) -> (f64, bool) {
        let (table, row, column) = (self.table, self.row, self.column);
        let has = |label: &Label| label.words.contains(word) || label.aside.contains(word);
        if self.own.contains(word) {
            (1.0, true)
        } else if has(&row.label) || has(&column.label) {
            (ASIDE, true)
        } else if row.section.contains(word) && !self.is_place(word) {
            (ASIDE, !self.weights.is_soft(word))
        } else if table.title.contains(word) && table.statement.is_none() {
            // A row "2031" under the title "Maturities of debt" has its name only in the title.
            let dated = row.label.period.or(column.label.period).is_some();
            (
                IN_TITLE,
                dated && row.label.words.iter().all(|own| is_light(own)),
            )
        } else {
            // The title of a statement, such as "Balance sheet", does not name its rows.
            (0.0, false)
        }
    }

    /// True if a word of a statement's section says where the row is and does not name it: "net
    /// income" under "Operating activities" is not operating income. The rows under "Net income per
    /// share", however, are named by it.
    fn is_place(&self, word: &str) -> bool {
        let per_share = self.row.section.iter().any(|own| own == "share");
        self.table.statement.is_some() && !per_share && SECTION_STEMS.contains(word)
    }

    /// True if the labels need not have a word of the reading.
    fn can_lack(&self, word: &String) -> bool {
        let row = self.row;
        // "Spent" is met by the row of any cost, even if the row does not say "expense".
        let spent = !COST_STEMS.contains(word)
            || names_cost(&row.printed)
            || self.is_charge()
            || self.table.statement.is_some() && names_cost(&row.section_text);
        // A row such as "2033", and not one such as "Total".
        let year = row.label.period.and_then(|period| period.end.year);
        let due = DUE.contains(word) && year.is_some() && self.table.is_schedule();
        let soft = self.weights.is_soft(word) || is_light(word) || due;
        word != "net" && soft && !SCOPES.contains(&word.as_str()) && spent
    }

    /// True if the row is a charge to the company, and not one that its customers pay.
    fn is_charge(&self) -> bool {
        let mut words = self.row.label.words.iter();
        let sold = words.clone().any(|word| word.starts_with("servic"));
        let last = words.next_back();
        last.is_some_and(|last| last.starts_with("charg")) && !sold
    }

    /// The words of the row's own label that the reading lacks.
    fn unsaid(&self) -> impl Iterator<Item = &String> {
        let own = self.own.iter();
        own.filter(|word| *word != "total" && !self.reading.contains(word))
    }

    /// How much the labels and the reading differ, as
    /// [`FitFigure::extra`](super::fit::FitFigure) counts it.
    fn extra(&self) -> usize {
        let lacks = |word: &&String| !self.row.label.words.contains(word);
        let elsewhere = self.reading.iter().filter(lacks);
        let company = |word: &&String| self.weights.is_of_company(word);
        let (of_company, more): (Vec<&String>, Vec<&String>) = self.unsaid().partition(company);
        4 * (more.len() + elsewhere.count()) + of_company.len()
    }

    /// True if a word that the reading lacks makes the row another figure: "attributable", or "net"
    /// of a flow. Balances are always net of what reduces them; flows may also be printed gross.
    fn is_other_figure(&self) -> bool {
        let label = &self.row.label;
        self.unsaid().any(|word| {
            // Per share, earnings are always those of the shareholders.
            let per_share = label.has("share");
            // "Net sales" and "sales" are one figure.
            let sales = label.is_one_of(&SALES_STEMS);
            let balance = self.table.statement == Some(Statement::Balances);
            word.starts_with("attribut") && !per_share || word == "net" && !sales && !balance
        })
    }

    /// The words of the section that say whose figure it is. A section that only gives the place in
    /// a statement is not a doubt.
    fn of_whom(&self) -> Vec<String> {
        let section = &self.row.section;
        let held = section.iter().any(|own| own == "held");
        let of_part = |word: &&String| match self.table.statement {
            // "Sale" names a part only in "held for sale".
            Some(_) => PARTS.contains(*word) && (*word != "sale" || held),
            None => !STRUCTURAL.contains(*word) && !self.weights.is_soft(word),
        };
        let of_whom: Vec<String> = section.iter().filter(of_part).cloned().collect();
        let heads = |word: &str| section.iter().any(|own| own.starts_with(word));
        // "Liabilities and equity" is the heading of every row that is not an asset.
        let is_general = heads("liabilit") && heads("equit");
        // "North America, excluding Canada" is not North America.
        let narrows = |word: &String| {
            let narrow = ["exclud", "before", "discontinu", "divest"];
            narrow.iter().any(|own| word.starts_with(own)) && !self.reading.contains(word)
        };
        if is_general
            || self.closes_its_section()
            || !section.iter().any(narrows) && self.is_only_part(&of_whom)
        {
            return Vec::new();
        }
        of_whom
    }

    /// True for the row of a note that is named as the question names it, and as a total: "Total
    /// lease cost" under "Finance lease cost" is the total of all headings.
    fn closes_its_section(&self) -> bool {
        let named = self.own.iter().any(|word| !is_light(word));
        let mut asked = self.reading.iter();
        self.table.statement.is_none()
            && self.row.label.total
            && named
            && self.unsaid().next().is_none()
            && asked.all(|word| self.own.contains(word))
    }

    /// True if no other section of the table has the words with which the question names this one:
    /// "Sam's Club" is enough for the section "Sam's Club U.S.".
    fn is_only_part(&self, of_whom: &[String]) -> bool {
        let is_said = |word: &&String| self.reading.contains(word) && !self.weights.is_soft(word);
        let said: Vec<&String> = of_whom.iter().filter(is_said).collect();
        let rows = self.table.rows.iter();
        let mut others = rows.filter(|other| other.section != self.row.section);
        !said.is_empty()
            && !others.any(|other| said.iter().all(|word| other.section.contains(word)))
    }
}
