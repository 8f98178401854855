//! The results of `improve`, which its table, page and JSON show.

use serde::Serialize;

use finqa_agents::llm::Cost;
use finqa_core::stats::questions_to_detect;

use super::trial::{CANDIDATES, Effect, LEVEL};

/// The discordance that is assumed if no earlier runs measure it: the share of questions that only
/// one of two sets of prompts answers correctly. Set by hand: a larger value needs more questions;
/// with this one, a gain of 5 points needs 521.
const DISCORDANCE: f64 = 0.15;

/// The state of a search for better prompts. The file is rewritten after every step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Improvement {
    /// The version of this layout.
    pub format: u32,
    /// The id of the search, with which the names of its runs begin.
    pub id: String,
    /// Provider, address and model of the analyst.
    pub model: String,
    pub proposer: String,
    pub data: String,
    /// The number of records in the propose, gate and sealed parts; `split.json` has their ids.
    pub records: [usize; 3],
    /// Maximum number of candidates.
    pub most_candidates: usize,
    /// The significance level at which each candidate is tested.
    pub level: f64,
    pub power: Power,
    pub candidates: Vec<Candidate>,
    /// The number of the promoted candidate: the one with the smallest p of those that passed.
    pub promoted: Option<usize>,
    /// The effect of the promoted candidate on the sealed pages.
    pub sealed: Option<Effect>,
    /// The folder for `--prompts`, if a candidate was promoted.
    pub prompts: Option<String>,
    /// Everything that was paid, including the runs with the unchanged prompts.
    pub cost: Cost,
    /// True if the search is over.
    pub complete: bool,
}

/// A proposed change of one template, whether it was run or rejected before a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Candidate {
    /// The candidate's number, from 1.
    pub number: usize,
    pub template: String,
    /// The proposer's reason.
    pub reason: String,
    /// The change of the template: lines that begin with `-` and `+`.
    pub diff: String,
    /// The reason why the candidate was not run; `None` if it was run.
    pub rejected: Option<String>,
    /// The name of its run on the gate pages.
    pub run: Option<String>,
    /// Its effect on the gate pages.
    pub effect: Option<Effect>,
    pub passes: bool,
    /// The cost of the proposal and of the run.
    pub cost: Cost,
}

/// The size of a gain that the gate pages can detect.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Power {
    /// The gain to be detected with 80 % power, from 0 to 1.
    pub detect: f64,
    /// The share of questions that only one of two runs answers right.
    pub discordance: f64,
    /// The number of questions of a page that carry as much information as one independent question.
    pub design_effect: f64,
    /// False if the discordance and the design effect are assumed instead of measured.
    pub measured: bool,
    /// The number of questions with gold on the gate pages.
    pub gate_questions: usize,
    /// The number of gate questions that are needed to detect the gain.
    pub needed: usize,
}

impl Power {
    /// Computes how many questions are needed to detect a gain of `detect`. `earlier` has the
    /// discordance and the design effect of earlier runs. Without them, a design effect of 1 treats
    /// all questions as independent.
    pub fn of(detect: f64, earlier: Option<(f64, f64)>) -> Self {
        let (discordance, design_effect) = earlier.unwrap_or((DISCORDANCE, 1.0));
        // The discordance cannot be below the gain, because a gain of 5 points means that at least
        // 5 % of the questions differ.
        let discordance = discordance.max(detect);
        let needed = questions_to_detect(detect, discordance, LEVEL / CANDIDATES as f64);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of questions, which saturates"
        )]
        let needed = (needed * design_effect).ceil() as usize;
        Self {
            detect,
            discordance,
            design_effect,
            measured: earlier.is_some(),
            gate_questions: 0,
            needed,
        }
    }

    pub fn is_enough(&self) -> bool {
        self.gate_questions >= self.needed
    }

    /// The number of questions of a whole search whose gate pages have just as many questions as
    /// needed. The propose pages (half as many) and the gate pages are asked once with the
    /// unchanged prompts (1.5), the gate pages again for each candidate, and the sealed pages (half
    /// as many) twice (1).
    pub fn asked_in_all(&self) -> f64 {
        self.needed as f64 * (1.5 + CANDIDATES as f64 + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_needs_521_questions_for_five_points_at_the_assumed_discordance() {
        let power = |earlier, gate_questions| Power {
            gate_questions,
            ..Power::of(0.05, earlier)
        };
        assert_eq!(power(None, 0).needed, 521);
        assert!(power(None, 521).is_enough() && !power(None, 520).is_enough());
        assert_eq!(power(Some((0.15, 2.0)), 0).needed, 1_041);
        // A measured discordance of 0 is replaced by the gain, because two runs that never differ
        // say nothing about a change of 5 points.
        assert_eq!(power(Some((0.0, 1.0)), 0).needed, 168);
    }
}
