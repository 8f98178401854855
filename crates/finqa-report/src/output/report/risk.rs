//! The report's figure of risk and coverage: the error rate over the share of answers that are
//! given.

use serde::Serialize;

use finqa_score::calibration::{CurvePoint, RiskSummary};

/// Width of the drawing, in SVG units. `report.html` draws its axes for this size.
const WIDTH: f64 = 600.0;
/// Height of the drawing, in SVG units.
const HEIGHT: f64 = 180.0;

/// The lines of the figure. Their x axis is the share of answers that are given.
#[derive(Serialize)]
pub(super) struct RiskFigure<'a> {
    summary: &'a RiskSummary,
    /// True if the errors were measured, which needs gold. False if they are expected from the
    /// probabilities.
    is_measured: bool,
    /// The points of the error line, as `x,y x,y`.
    errors: String,
    /// The points of the line of upper bounds; empty without gold.
    bounds: String,
    /// The ticks of the error axis: y, and the label in percent.
    ticks: Vec<(f64, f64)>,
}

impl<'a> RiskFigure<'a> {
    /// Scales the curve, so that its highest error or bound is at the top.
    pub(super) fn of(summary: &'a RiskSummary) -> Self {
        let points = &summary.curve.points;
        let bound = |point: &CurvePoint| point.measured.map(|it| it.bound);
        let error = |point: &CurvePoint| {
            let measured = point.measured.map(|it| it.rate());
            measured.unwrap_or(point.expected_error)
        };
        let highest = points
            .iter()
            .map(|point| bound(point).unwrap_or(error(point)));
        // The axis reaches at least 5 %, which is set by hand.
        let highest = highest.fold(0.05, f64::max);
        let y = |error: f64| HEIGHT * (1.0 - error / highest);
        let line = |of: &dyn Fn(&CurvePoint) -> Option<f64>| {
            let places = points.iter().filter_map(|point| {
                let (x, y) = (WIDTH * point.share, y(of(point)?));
                Some(format!("{x:.1},{y:.1}"))
            });
            places.collect::<Vec<_>>().join(" ")
        };
        let ticks = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
        // Leave out labels that would overlap: those in the lowest twelfth of the axis, except 0.
        // Ticks and twelfth are set by hand.
        let apart = |tick: &f64| *tick <= highest && (*tick == 0.0 || *tick >= highest / 12.0);
        Self {
            summary,
            is_measured: points.iter().all(|point| point.measured.is_some()),
            errors: line(&|point| Some(error(point))),
            bounds: line(&bound),
            ticks: ticks
                .into_iter()
                .filter(apart)
                .map(|tick| (y(tick), 100.0 * tick))
                .collect(),
        }
    }
}
