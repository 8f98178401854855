//! Reads and writes the trained weights: `weights/weights.json`, `network.json`, `shapes.bin` and
//! `sketches.bin`, which the trainer writes and the build embeds. `docs/embedded-analyst.md`
//! describes what they are fitted to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::answering::confidence::SIGNAL_NAMES;
use super::question::proposal::{ShapeModel, SketchModel};
use super::question::slot_scorer::feature_names;
use super::ranking::{self, network::Network};

const EMBEDDED: &str = include_str!("../weights/weights.json");
const NETWORK: &str = include_str!("../weights/network.json");
const SHAPE_WEIGHTS: &[u8] = include_bytes!("../weights/shapes.bin");
const SKETCH_WEIGHTS: &[u8] = include_bytes!("../weights/sketches.bin");

/// Format version of the JSON files. A file of another version is refused.
const VERSION: u32 = 1;

/// The end of each error text.
const AGAIN: &str = "run the trainer again";

/// The weights of all models. Those of the linear models are in the order of their features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbeddedWeights {
    /// The slot scorer, a linear model that ranks facts for a slot of a plan.
    pub slots: Vec<f64>,
    /// The logistic model that computes the probability that an answer is right.
    pub confidence: Vec<f64>,
    /// The model of the shape that a question asks for.
    pub shapes: ShapeModel,
    /// The model of how a turn's program builds on earlier turns.
    pub sketches: SketchModel,
    /// The network that ranks candidates. If it is empty, their rough scores decide.
    pub network: Network,
}

/// The content of `weights.json`: the weights of the linear models, by the names of their features.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsFile {
    version: u32,
    slots: HashMap<String, f64>,
    confidence: HashMap<String, f64>,
}

/// The part of a JSON file that every version has.
#[derive(Deserialize)]
struct FileVersion {
    version: u32,
}

impl EmbeddedWeights {
    /// The embedded weights, parsed at the first call.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static WEIGHTS: OnceLock<EmbeddedWeights> = OnceLock::new();
        // A test reads the embedded files, so the default for unreadable files is never used.
        WEIGHTS.get_or_init(|| {
            Self::from_files([EMBEDDED, NETWORK], SHAPE_WEIGHTS, SKETCH_WEIGHTS).unwrap_or_default()
        })
    }

    /// Reads the files that `trainer --write` or `--keep` wrote to a folder.
    ///
    /// # Errors
    ///
    /// Names the first file that is missing or does not fit this program.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let bytes = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let text = |name: &str| {
            String::from_utf8(bytes(name)?).map_err(|error| format!("{name}: {error}"))
        };
        let texts = [text("weights.json")?, text("network.json")?];
        Self::from_files(
            texts.each_ref().map(String::as_str),
            &bytes("shapes.bin")?,
            &bytes("sketches.bin")?,
        )
    }

    /// Reads all four files. The confidence and the scorer are in the first.
    fn from_files(
        [weights, network]: [&str; 2],
        shapes: &[u8],
        sketches: &[u8],
    ) -> Result<Self, String> {
        let other_size = |name: &str| format!("{name}: another size; {AGAIN}");
        Ok(Self {
            shapes: ShapeModel::from_bytes(shapes).ok_or_else(|| other_size("shapes.bin"))?,
            sketches: SketchModel::from_bytes(sketches)
                .ok_or_else(|| other_size("sketches.bin"))?,
            network: network_from_json(network)?,
            ..Self::from_json(weights)?
        })
    }

    /// Reads the text of a `weights.json`.
    fn from_json(text: &str) -> Result<Self, String> {
        let file: WeightsFile = parse("weights.json", text, |file: &WeightsFile| file.version)?;
        Ok(Self {
            slots: in_order("slots", file.slots, feature_names())?,
            confidence: in_order("confidence", file.confidence, SIGNAL_NAMES)?,
            ..Self::default()
        })
    }

    /// The text of `network.json`.
    #[must_use]
    pub fn network_to_json(&self) -> String {
        let file = NetworkFile {
            version: VERSION,
            features: ranking::network_names(),
            model: &self.network,
        };
        // Structs of numbers and texts can always be written, so the default is never used.
        serde_json::to_string(&file).unwrap_or_default() + "\n"
    }

    /// The text of `weights.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let file = serde_json::json!({
            "version": VERSION,
            "slots": by_name(feature_names().zip(&self.slots)),
            "confidence": by_name(SIGNAL_NAMES.into_iter().zip(&self.confidence)),
        });
        format!("{file:#}\n")
    }
}

/// The content of `network.json`. `M` is the network, or a reference to it for writing.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct NetworkFile<M> {
    version: u32,
    /// The names of the network's inputs, in the order of its weights.
    features: Vec<String>,
    model: M,
}

/// Reads the text of a `network.json`. An error if its features or layer sizes do not fit this
/// program.
fn network_from_json(text: &str) -> Result<Network, String> {
    let version = |file: &NetworkFile<Network>| file.version;
    let file = parse("network.json", text, version)?;
    if file.features != ranking::network_names() {
        Err(format!("network: other features; {AGAIN}"))
    } else if !file.model.fits(file.features.len()) {
        Err(format!("network: wrong layer sizes; {AGAIN}"))
    } else {
        Ok(file.model)
    }
}

/// Reads the JSON text of the file `name`; `version` is its version, which must be this program's.
fn parse<F: DeserializeOwned>(
    name: &str,
    text: &str,
    version: impl Fn(&F) -> u32,
) -> Result<F, String> {
    let read = serde_json::from_str::<F>(text);
    // Another version may have other fields, which would be the error.
    let found = match &read {
        Ok(file) => Ok(version(file)),
        Err(_) => serde_json::from_str(text).map(|file: FileVersion| file.version),
    };
    match found {
        Ok(found) if found != VERSION => {
            Err(format!("{name}: version {found}, not {VERSION}; {AGAIN}"))
        }
        _ => read.map_err(|error| format!("{name}: {error}")),
    }
}

/// Sorts weights into the order of the features. A feature that the file does not list is an error,
/// and so is an unknown one in the file.
fn in_order<N: Into<String>>(
    model: &str,
    mut weights: HashMap<String, f64>,
    names: impl IntoIterator<Item = N>,
) -> Result<Vec<f64>, String> {
    let weight = |name: N| {
        let name = name.into();
        let weight = weights.remove(&name);
        weight.ok_or_else(|| format!("{model}: no weight for {name:?}; {AGAIN}"))
    };
    let ordered = names.into_iter().map(weight).collect::<Result<_, _>>()?;
    match weights.into_keys().next() {
        Some(name) => Err(format!("{model}: no feature {name:?}; {AGAIN}")),
        None => Ok(ordered),
    }
}

fn by_name<'a, N: Into<String>>(
    weights: impl Iterator<Item = (N, &'a f64)>,
) -> serde_json::Map<String, serde_json::Value> {
    weights
        .map(|(name, weight)| (name.into(), (*weight).into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_is_read_and_written_again_without_a_change() {
        let weights = EmbeddedWeights::from_json(EMBEDDED).unwrap();
        assert!(weights.slots.first().is_some_and(|weight| *weight > 0.0));
        let written = weights.to_json();
        let difference = written.lines().zip(EMBEDDED.lines()).find(|(a, b)| a != b);
        assert_eq!(difference, None);
        assert_eq!(written.len(), EMBEDDED.len());
        let embedded = EmbeddedWeights::built_in();
        assert_eq!(weights.slots, embedded.slots);
        let network = network_from_json(NETWORK).unwrap();
        assert_eq!(network, embedded.network);
        assert_eq!(embedded.network_to_json(), NETWORK);
        assert_eq!(embedded.shapes.to_bytes(), SHAPE_WEIGHTS);
        assert!(!embedded.network.is_empty());
    }

    #[test]
    fn a_file_that_does_not_fit_the_features_is_refused_by_name() {
        let refusal = |from: &str, to: &str| {
            let text = EMBEDDED.replacen(from, to, 1);
            assert_ne!(text, EMBEDDED);
            EmbeddedWeights::from_json(&text).unwrap_err()
        };
        assert_eq!(
            refusal("\"cell\":", "\"bell\":"),
            "slots: no weight for \"cell\"; run the trainer again"
        );
        assert_eq!(
            refusal("\"slots\": {", "\"slots\": {\"sell\": 1,"),
            "slots: no feature \"sell\"; run the trainer again"
        );
        assert!(refusal("{", "[").contains(" at line "));
    }

    /// The version was not compared.
    #[test]
    fn a_file_of_another_version_is_refused_by_name() {
        let weights = EMBEDDED.replacen("\"version\": 1", "\"version\": 2", 1);
        let renamed = weights.replacen("\"slots\":", "\"places\":", 1);
        for text in [weights, renamed] {
            assert_eq!(
                EmbeddedWeights::from_json(&text).unwrap_err(),
                "weights.json: version 2, not 1; run the trainer again"
            );
        }
        let network = NETWORK.replacen("\"version\":1", "\"version\":2", 1);
        assert_eq!(
            network_from_json(&network).unwrap_err(),
            "network.json: version 2, not 1; run the trainer again"
        );
    }

    fn keep_units(file: &mut serde_json::Value, units: usize) {
        let model = file["model"].as_object_mut().unwrap();
        for list in ["bias", "output"] {
            model[list].as_array_mut().unwrap().truncate(units);
        }
        for of_input in model["hidden"].as_array_mut().unwrap() {
            of_input.as_array_mut().unwrap().truncate(units);
        }
    }

    #[test]
    fn a_network_of_other_features_or_layers_is_refused_by_name() {
        let network = |edit: fn(&mut serde_json::Value)| {
            let mut file: serde_json::Value = serde_json::from_str(NETWORK).unwrap();
            edit(&mut file);
            network_from_json(&file.to_string()).unwrap_err()
        };
        assert_eq!(
            network(|file| file["features"][3] = "bell".into()),
            format!("network: other features; {AGAIN}")
        );
        let layers = format!("network: wrong layer sizes; {AGAIN}");
        let edits: [fn(&mut serde_json::Value); 6] = [
            |file| drop(file["model"]["ranges"].as_array_mut().unwrap().pop()),
            |file| keep_units(file, 0),
            |file| drop(file["model"]["hidden"].as_array_mut().unwrap().pop()),
            |file| drop(file["model"]["hidden"][7].as_array_mut().unwrap().pop()),
            |file| drop(file["model"]["direct"].as_array_mut().unwrap().pop()),
            |file| {
                let output = file["model"]["output"].as_array_mut();
                output.unwrap().push(1.0.into());
            },
        ];
        for edit in edits {
            assert_eq!(network(edit), layers);
        }
    }
}
