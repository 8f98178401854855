//! The names of the columns and keys of the known formats.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PredictionField {
    Id,
    Part,
    Question,
    GroundTruth,
    Prediction,
    Answer,
    Value,
    Program,
    GoldProgram,
    ExeAns,
    Outcome,
    LatencySeconds,
    LatencyMilliseconds,
    Filename,
    Epoch,
    Rounds,
    Cost,
}

impl PredictionField {
    /// The field of a column or key, if it is one we read.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name.trim() {
            "id" | "record_id" => Self::Id,
            "part" | "turn" | "turn_idx" => Self::Part,
            "question" => Self::Question,
            "ground_truth" | "gold" | "expected_answer" => Self::GroundTruth,
            "prediction" | "predicted_answer" => Self::Prediction,
            "answer" => Self::Answer,
            "value" => Self::Value,
            "program" | "predicted_program" => Self::Program,
            "gold_program" | "expected_program" => Self::GoldProgram,
            "exe_ans" => Self::ExeAns,
            "outcome" => Self::Outcome,
            "latency" => Self::LatencySeconds,
            "latency_ms" => Self::LatencyMilliseconds,
            "filename" => Self::Filename,
            "epoch" => Self::Epoch,
            "rounds" => Self::Rounds,
            "cost_usd" => Self::Cost,
            _ => return None,
        })
    }
}

/// The file name inside a record id: `Single_JKHY/2009/page_28.pdf-3` is on
/// `JKHY/2009/page_28.pdf`.
/// A whole id that names no file stays as it is.
pub(crate) fn filename_of(id: &str) -> &str {
    let page = id
        .strip_prefix("Single_")
        .or_else(|| id.strip_prefix("Double_"))
        .unwrap_or(id);
    match page.find(".pdf") {
        Some(at) => page.get(..at + 4).unwrap_or(page),
        None => page,
    }
}

#[cfg(test)]
mod tests {
    use super::filename_of;

    #[test]
    fn the_page_of_an_id() {
        assert_eq!(
            filename_of("Single_A/2009/page_28.pdf-3"),
            "A/2009/page_28.pdf"
        );
        assert_eq!(
            filename_of("Double_A/2009/page_28.pdf"),
            "A/2009/page_28.pdf"
        );
        assert_eq!(filename_of("mine"), "mine");
    }
}
