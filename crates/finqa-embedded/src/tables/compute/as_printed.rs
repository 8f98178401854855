//! Shows a looked-up figure as its cell prints it: with the side of an account ("45 Dr"), and with
//! the printed digits where they are fewer than the stored ones.

use finqa_core::program::Leaf;

use super::direct_answer::DirectAnswer;
use crate::expr::turn_sign;
use crate::tables::find::{self, FigureExpr};
use crate::tables::page::table::Place;
use crate::tables::page::{TableResult, Tables, missing};

impl Tables {
    /// Adds the side of an account ("45 Dr") to a figure that is looked up. Returns a doubt for a
    /// calculation with such figures.
    pub(crate) fn with_side(&self, answer: DirectAnswer) -> TableResult<DirectAnswer> {
        let side = |leaf: &Leaf<Option<Place>>| self.cell(leaf.source?)?.side();
        let first = answer.exprs().flat_map(FigureExpr::leaves).find_map(side);
        let Some(first) = first else {
            return Ok(answer);
        };
        match &answer.expr {
            FigureExpr::Leaf(leaf) if answer.name == "look-up" && answer.label.is_none() => {
                let label = Some(format!("{} {first}", leaf.literal));
                Ok(DirectAnswer { label, ..answer })
            }
            _ => missing("Dr and Cr are sides of an account, which are not compared"),
        }
    }

    /// Replaces the stored digits of a looked-up figure by the printed ones; `None` if there is
    /// nothing to replace.
    pub(crate) fn print(&self, expr: &mut FigureExpr) -> Option<()> {
        let FigureExpr::Leaf(leaf) = expr else {
            return None;
        };
        let place = leaf.source?;
        let literal = self.cell(place)?.printed()?;
        let mut printed = find::leaf(literal, place)?;
        // The answer keeps its sign, which may differ from that of the cell.
        if (printed.value < 0.0) != (leaf.value < 0.0) {
            turn_sign(&mut printed);
        }
        *leaf = printed;
        Some(())
    }
}
