//! Ratios, margins, and what is left of a whole.

use super::DirectAnswer;
use super::axis::AxisLabel;
use super::changes::{FALLEN, RISEN};
use super::compute::per;
use super::phrase::NamedOperand;
use super::values::{DirectReader, NO_PLACE, NoReading, Reading, TableAmount, sum};
use crate::expr::Expr;
use crate::question::mention::ratio_operands;
use crate::question::operations::LEFT_OF_WHOLE;
use crate::question::wording::Wording;
use finqa_core::number::UnitKind;
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

/// Words of a share.
const SHARE: [&str; 26] = [
    "ratio", "ratio of", "percent of", "as a percent of", "as percent of", "share of",
    "portion of", "proportion of", "fraction of", "share", "portion", "proportion", "fraction",
    "percent", "%", "divided by", "relative to", "in relation to", "part of", "as a share of",
    "percents", "margin", "did", "does", "that", "as",
];

impl DirectReader<'_> {
    pub(super) fn says_complement(&self) -> bool {
        let wording = &self.asked.wording;
        wording.says(&LEFT_OF_WHOLE) || wording.says(&["apart from", "besides"])
    }

    pub(super) fn says_ratio(&self) -> bool {
        let wording = &self.asked.wording;
        let connected = wording.says(&[
            "ratio", "as a percent of", "as percent of", "percent of", "share of", "portion of",
            "proportion of", "fraction of", "divided by", "in relation to", "relative to",
            "what percent", "% of",
        ]);
        let points = wording.says(&["points", "percent points"]);
        let moves = wording.change()
            || wording.says(&FALLEN)
            || wording.says(&RISEN)
            || wording.says(&["exceed", "exceeds", "exceeded"]);
        let grows = moves && !wording.says(&["as a percent of", "as percent of", "ratio of"]);
        connected && !grows && !points
            || !wording.change()
                && !self.says_average()
                && per(self.asked.text()).is_some_and(|(_, whole)| {
                    let whole = self.asked.operand(&self.table, &whole, &[]);
                    whole.words.iter().any(|word| self.table.knows(word))
                })
    }

    pub(super) fn ratio(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        let text = self.asked.text().to_owned();
        let percent =
            wording.percent() || wording.says(&["%", "share", "portion", "proportion", "fraction"]);
        let kind = if percent {
            UnitKind::Percent
        } else {
            UnitKind::Ratio
        };
        if let Some((part, whole)) = per(&text) {
            return self.quotient(&part, &whole, kind, &[&SHARE]);
        }
        if let Some((part, whole)) = share_in(&text) {
            let names = self.asked.operand(&self.table, &whole, &[&SHARE]);
            if !names.words.is_empty() || names.context.iter().any(|word| word == "total") {
                return self.quotient(&part, &whole, kind, &[&SHARE]);
            }
        }
        let came = text.replace(" went to ", " came from ");
        let operands = match came == text {
            true => ratio_operands(wording),
            false => ratio_operands(&Wording::read(&came)),
        };
        if let Some((part, whole)) = operands {
            return self.quotient(&part, &whole, kind, &[&SHARE]);
        }
        // "The debt to equity ratio"
        let named = text
            .split(" ratio ")
            .next()
            .and_then(|before| before.split_once(" to "));
        if let Some((part, whole)) = named.filter(|_| wording.says(&["ratio"])) {
            return self.quotient(part, whole, kind, &[&SHARE]);
        }
        Err(NoReading::Open)
    }

    /// One part of the question over the other; each leaves out what the other says.
    pub(super) fn quotient(
        &mut self,
        part: &str,
        whole: &str,
        kind: UnitKind,
        lists: &[&[&str]],
    ) -> Reading<DirectAnswer> {
        let mut part = self.asked.terms(&self.table, part, lists);
        let mut whole = self.asked.terms(&self.table, whole, lists);
        // "Of full-year sales in Q4": a period alone is of the other's quantity.
        if part.words.is_empty() && !part.spans.is_empty() {
            part.words.clone_from(&whole.words);
        }
        let total = whole.context.iter().any(|word| word == "total");
        if whole.words.is_empty() && !whole.spans.is_empty() && !total {
            whole.words.clone_from(&part.words);
        }
        let of_whole = whole.words.clone();
        part.context.extend(of_whole);
        part.percent = Some(false);
        whole.percent = Some(false);
        // The whole of a column is its total.
        whole.context.push("total".to_owned());
        if whole.words.is_empty() {
            whole.words.push("total".to_owned());
        }
        let answer = self.divided(part, whole.clone(), kind)?;
        self.doubt_no_total(&whole);
        Ok(answer)
    }

    /// "Total income" where only "Subscription income" says it: other rows may be income too.
    fn doubt_no_total(&mut self, whole: &NamedOperand) {
        let said = |label: &AxisLabel| whole.words.iter().all(|word| label.says(word));
        let whole_of = |label: &AxisLabel| label.total || label.words.len() <= whole.words.len();
        let total = (self.table.labels()).any(|label| said(label) && whole_of(label));
        let mut rows = self.table.rows.iter().skip(1);
        let part = rows.find(|label| said(label)).filter(|_| !total);
        if let Some(name) = part.map(|label| label.name.clone())
            && self.asked.wording.says(&["total"])
        {
            self.doubt(format!("{name} may be only a part of the total"));
        }
    }

    fn divided(
        &mut self,
        part: NamedOperand,
        whole: NamedOperand,
        kind: UnitKind,
    ) -> Reading<DirectAnswer> {
        let common = self.asked.spans().first().copied();
        if self.asked.spans().len() > 1 && (part.spans.is_empty() || whole.spans.is_empty()) {
            return Err(NoReading::Open);
        }
        let part = self.part_of(&part, &whole, common)?;
        let whole = self.whole_of(&whole, &part, common)?;
        self.doubt_columns(&part, &whole);
        let mut amounts = [part, whole];
        if amounts.first().map(|x| x.place) == amounts.last().map(|x| x.place) {
            return Err(NoReading::Open);
        }
        let mixed = amounts.first().map(|x| x.percent) != amounts.last().map(|x| x.percent);
        self.as_costs(&mut amounts);
        let [part, whole] = amounts;
        if whole.number == 0.0 || mixed {
            return Err(NoReading::Open);
        }
        let expr = Expr::step(Op::Divide, part.expr, whole.expr);
        Ok(DirectAnswer::new("ratio", expr, kind))
    }

    /// The amount of a part in the column of its whole, where others fit as well.
    fn part_of(
        &mut self,
        part: &NamedOperand,
        whole: &NamedOperand,
        common: Option<CalendarSpan>,
    ) -> Reading<TableAmount> {
        let several = match self.amount(part, common) {
            Err(NoReading::Several(why)) if part.terms.is_empty() => NoReading::Several(why),
            found => return found,
        };
        let place = self.amount(whole, common)?.place;
        let cells = self.cells(&part.query(self.table.span_of(place)))?;
        let mut near = cells.iter().filter(|(_, column)| *column == place.1);
        match (near.next(), near.next()) {
            (Some(place), None) => self.table.amount_at(*place).ok_or(several),
            _ => Err(several),
        }
    }

    /// Sales over a headcount are not a share, nor are sales without a scale over thousands.
    fn doubt_columns(&mut self, part: &TableAmount, whole: &TableAmount) {
        let facts = self.table.facts;
        let scaled = |amount: &TableAmount| {
            let sources = amount.expr.leaves().into_iter().map(|leaf| leaf.source);
            let mut of_page = sources.filter_map(|source| facts.all.get(source?));
            facts.scale.is_some() || of_page.any(|fact| fact.scale.is_some())
        };
        if scaled(whole)
            && !scaled(part)
            && let Some(name) = self
                .table
                .label_of(part.place, |label| !label.name.is_empty())
        {
            self.doubt(format!("{name} may be in another unit"));
        }
        let columns = &self.table.columns;
        let at = |amount: &TableAmount| columns.get(amount.place.1);
        if let (Some(a), Some(b)) = (at(part), at(whole))
            && part.place.0 != whole.place.0
            && !a.is_alike(b)
        {
            let why = format!("{} and {} may not be comparable", a.name, b.name);
            self.doubt(why);
        }
    }

    /// A whole: in the same column or row as its part where both have one.
    fn whole_of(
        &mut self,
        whole: &NamedOperand,
        part: &TableAmount,
        common: Option<CalendarSpan>,
    ) -> Reading<TableAmount> {
        let doubts = self.doubts.len();
        let found = self.amount(whole, common);
        if found.is_ok() {
            return found;
        }
        self.doubts.truncate(doubts);
        // Of several that fit, the one in the column or row of its part.
        let cells = self.cells(&whole.query(self.table.span_of(part.place)));
        let cells = cells.unwrap_or_default();
        let mut near = cells
            .iter()
            .filter(|(row, column)| (*row == part.place.0) != (*column == part.place.1));
        if let (Some(place), None) = (near.next(), near.next()) {
            return self.table.amount_at(*place).ok_or(NoReading::Open);
        }
        self.doubts.truncate(doubts);
        // Without a row of its own, a whole is the sum of its parts.
        let parts = self.parts_of(part.place.1)?;
        self.doubt_total_among(&parts);
        // "Revenue per customer" has no whole in the column of revenue.
        let of_column = self.table.columns.get(part.place.1);
        let of_parts = |word: &String| {
            let mut rows = parts.iter().map(|part| self.table.rows.get(part.place.0));
            self.table.corner_says(word)
                || of_column.is_some_and(|column| column.says(word))
                || rows.all(|row| row.is_some_and(|row| row.says(word)))
        };
        let known = (whole.words.iter()).all(|word| word == "total" || of_parts(word));
        let expr = sum(&parts).filter(|_| known).ok_or(NoReading::Open)?;
        let number = parts.iter().map(|amount| amount.number).sum();
        Ok(TableAmount {
            expr,
            number,
            percent: false,
            place: NO_PLACE,
        })
    }

    /// The amounts of a column, if no row is their total.
    fn parts_of(&self, column: usize) -> Reading<Vec<TableAmount>> {
        let mut parts = Vec::new();
        for (row, label) in self.table.rows.iter().enumerate().skip(1) {
            if label.derived {
                continue;
            }
            if label.total {
                return Err(NoReading::Open);
            }
            parts.extend(self.table.amount_at((row, column)));
        }
        if parts.iter().any(|part| part.percent || part.number < 0.0) || parts.is_empty() {
            return Err(NoReading::Open);
        }
        Ok(parts)
    }

    /// "Sales other than A": the whole without a part, as an amount or a share of the whole.
    pub(super) fn complement(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        let share = wording.percent()
            || wording.share()
            || wording.says(&["share", "portion", "proportion", "fraction", "%"]);
        let left = LEFT_OF_WHOLE
            .iter()
            .copied()
            .chain(["apart from", "besides"]);
        let (before, after) = left
            .filter_map(|word| wording.split(word))
            .next()
            .ok_or(NoReading::Open)?;
        let verbs: &[&str] = &[
            "was", "were", "is", "are", "did", "do", "does", "there", "come", "came", "from",
            "work", "worked", "relate", "belong",
        ];
        let mut part = self.asked.terms(&self.table, &after, &[&SHARE, verbs]);
        let mut whole = self
            .asked
            .operand(&self.table, &before, &[&SHARE, verbs, &["total"]]);
        if part.words.is_empty() {
            return Err(NoReading::Open);
        }
        // A part may be only the adjective of the whole: "assets that are not current".
        part.context.extend(whole.words.iter().cloned());
        let span = self.asked.spans().first().copied();
        if self.asked.spans().len() > 1 {
            return Err(NoReading::Open);
        }
        let known =
            |reader: &Self, words: &[String]| words.iter().any(|word| reader.table.knows(word));
        let part = self.amount(&part, span)?;
        whole.context.push("total".to_owned());
        let whole = if known(self, &whole.words) {
            self.amount(&whole, span)?
        } else if self.table.knows("total") {
            let total = NamedOperand {
                words: vec!["total".to_owned()],
                context: whole.context.clone(),
                spans: whole.spans.clone(),
                ..NamedOperand::default()
            };
            self.amount(&total, span)?
        } else {
            return Err(NoReading::Open);
        };
        if whole.place == part.place || whole.percent != part.percent {
            return Err(NoReading::Open);
        }
        let mut amounts = [whole, part];
        self.as_costs(&mut amounts);
        let [a, b] = amounts;
        if b.number > a.number || b.number < 0.0 {
            return Err(NoReading::Open);
        }
        let rest = Expr::step(Op::Subtract, a.expr.clone(), b.expr);
        Ok(if share {
            DirectAnswer::percent("complement", Expr::step(Op::Divide, rest, a.expr))
        } else {
            DirectAnswer::number("complement", rest)
        })
    }
}

/// The parts of "the share of A in B".
fn share_in(text: &str) -> Option<(String, String)> {
    let leads = ["share of", "portion of", "proportion of", "percent of"];
    let rest = leads
        .iter()
        .find_map(|lead| text.split_once(&format!(" {lead} ")))?
        .1;
    let (part, whole) = rest.split_once(" in ")?;
    let verbs = [
        "was", "were", "is", "are", "came", "come", "did", "does", "do", "from", "made", "work",
        "worked",
    ];
    let clause = rest.split_whitespace().any(|word| verbs.contains(&word));
    (!clause).then(|| (part.to_owned(), whole.to_owned()))
}
