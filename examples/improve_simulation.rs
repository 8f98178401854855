//! Simulates how often `convfinqa improve` promotes a candidate, without a model:
//! `cargo run --release --example improve_simulation`.
//!
//! There are 1,000 gate questions, two on a page. A candidate changes each with a given probability
//! from wrong to right or from right to wrong. The search is that of the command: at most three
//! candidates, each tested once at the level 0.05 / 3 by page, until two in a row are rejected.

use finqa_score::improve::{CANDIDATES, Effect, LEVEL, Trial};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const QUESTIONS: usize = 1_000;

/// The probabilities that a candidate makes a wrong answer right, and a right one wrong.
#[derive(Clone, Copy)]
struct Flips {
    up: f64,
    down: f64,
}

const NULL: Flips = Flips {
    up: 0.075,
    down: 0.075,
};
const GAIN: Flips = Flips {
    up: 0.10,
    down: 0.05,
};

fn main() {
    println!(
        "{QUESTIONS} gate questions on {} pages, 15 % flipped; at most {CANDIDATES} candidates at {LEVEL} / {CANDIDATES}",
        QUESTIONS / 2
    );
    for (name, candidates, searches) in [
        ("no candidate has an effect", [NULL; CANDIDATES], 400),
        ("every candidate gains 5 points", [GAIN; CANDIDATES], 200),
        ("only the second gains 5 points", [NULL, GAIN, NULL], 200),
    ] {
        // The share of pages whose two questions change together.
        for together in [0.0, 0.5] {
            let promoted = (0..searches).filter(|seed| promotes(candidates, together, *seed));
            let promoted = promoted.count();
            println!(
                "{name}; {together} of the pages flipped as one: {promoted} of {searches} searches promote"
            );
        }
    }
}

fn promotes(candidates: [Flips; CANDIDATES], together: f64, seed: u64) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut trial = Trial::default();
    while let Some(number) = trial.next() {
        let flips = candidates.get(number - 1).copied().unwrap_or(NULL);
        let pages: Vec<String> = (0..QUESTIONS / 2).map(|page| page.to_string()).collect();
        let mut pairs = Vec::with_capacity(QUESTIONS);
        for page in &pages {
            let flip = |random: &mut ChaCha8Rng| match random.random::<f64>() {
                x if x < flips.up => (false, true),
                x if x < flips.up + flips.down => (true, false),
                _ => (true, true),
            };
            let first = flip(&mut random);
            let second = if random.random::<f64>() < together {
                first
            } else {
                flip(&mut random)
            };
            pairs.extend([first, second].map(|(a, b)| (page.as_str(), a, b)));
        }
        trial.note(Effect::p_of(&pairs));
    }
    trial.promoted().is_some()
}
