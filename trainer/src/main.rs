//! Trains the embedded analyst's weights and measures it on pages that it was not trained on:
//!
//! ```text
//! cargo run --release --manifest-path trainer/Cargo.toml -- FILE... [--dialogues FILE] [--write FOLDER] [--seed N]
//! ```
//!
//! FILE has records of ConvFinQA, FinQA or TAT-QA. Their pages are divided into five folds; records
//! that share a page, a table, a conversation or much of their text are in the same fold. The
//! questions of each fold are answered by weights that were trained on the other folds, dialogues
//! included. `--write` writes the weights trained on everything; the next build of the program
//! embeds them.
//!
//! `files` reads the files, and `items` makes one list of questions of them and assigns the folds.
//! `slots`, `classifiers`, `network` and `confidence` each fit one part of the weights, in this order;
//! `logit` trains the linear model of `slots`, and `choice` makes the examples of the network.
//! `report` prints the results.

#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program of the developers, over files that they know"
)]

mod choice;
mod classes;
mod classifiers;
mod confidence;
mod derivation;
mod files;
mod items;
mod logit;
mod network;
mod random;
mod report;
mod slots;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use clap::Parser;
use finqa_core::question::page_of_record;
use finqa_embedded::EmbeddedAnalyst;
use finqa_embedded::training::{
    EmbeddedWeights, Network, ShapeModel, SketchModel, candidates, programs,
};

use choice::{Row, choices};
use classifiers::Example;
use files::File;
use items::{Answer, FOLDS, Item, converse};
use logit::Choices;
use report::Report;

#[derive(Parser)]
struct Options {
    /// Files of records of the dataset or of FinQA
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Conversations without pages, from which only the models of shapes and sketches learn
    #[arg(long)]
    dialogues: Option<PathBuf>,
    /// Write the weights trained on everything to this folder
    #[arg(long)]
    write: Option<PathBuf>,
    /// Keep the weights trained without fold N in FOLDER/N, and the fold of each page in
    /// FOLDER/folds.json; what is there already is not trained again
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Write the questions answered wrong to this file
    #[arg(long)]
    misses: Option<PathBuf>,
    /// Learn from these questions of your own too, in the format of the dataset, and print what
    /// they bring: everything is trained without them first
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Of the five folds, examine this many
    #[arg(long, default_value_t = FOLDS)]
    folds: usize,
    /// Train on no question of this file, of which only the folder and the stem are named
    #[arg(long, value_name = "NAME")]
    only_test: Vec<String>,
    /// Train on no page of this file, whichever file has it, and not on one like it; of the file,
    /// only the folder and the stem are named. With `--folds 0`, nothing is measured, and the
    /// confidence stays that of the weights in the program
    #[arg(long, value_name = "NAME")]
    hold_out: Option<String>,
    /// Seed of the first network
    #[arg(long, default_value_t = 14)]
    seed: u64,
}

/// Trains all weights but those of the confidence on the questions outside a fold. The network
/// learns from questions that the models of shapes and sketches have not seen: for each of the other
/// folds, these models are fitted once more without it.
fn train(
    items: &[Item],
    examples: &[Example],
    without: Option<usize>,
    seed: u64,
) -> EmbeddedWeights {
    let classifiers = |also: Option<usize>| -> (ShapeModel, SketchModel) {
        let left = |fold: usize| Some(fold) != without && Some(fold) != also;
        let used = || examples.iter().filter(|e| left(e.fold));
        let shapes: Vec<_> = used().filter_map(|e| e.shape.as_ref()).collect();
        let sketches: Vec<_> = used().filter_map(|e| e.sketch.as_ref()).collect();
        (classifiers::fit(&shapes), classifiers::fit(&sketches))
    };
    let started = Instant::now();
    let used = |i: &&Item| Some(i.fold) != without && !i.only_tested;
    let used: Vec<&Item> = items.iter().filter(used).collect();
    let start = EmbeddedWeights::built_in();
    let (shapes, sketches) = classifiers(None);
    let mut weights = EmbeddedWeights {
        slots: slots::fit(&used, start.slots.len()),
        shapes,
        sketches,
        network: Network::default(),
        ..start.clone()
    };
    let of = without.map_or("all folds".to_owned(), |fold| {
        format!("without fold {fold}")
    });
    let step = |what: &str| eprintln!("{of}: {what}: {:.1} s", started.elapsed().as_secs_f64());
    step("slots, shapes");
    // The other folds with their questions, and with models that have not seen them.
    let inner: Vec<_> = (0..FOLDS)
        .filter(|fold| Some(*fold) != without)
        .map(|fold| {
            let of_fold: Vec<&Item> = used.iter().copied().filter(|i| i.fold == fold).collect();
            (fold, of_fold, classifiers(Some(fold)))
        })
        .collect();
    let with = |(shapes, sketches): &(ShapeModel, SketchModel), weights: &EmbeddedWeights| {
        EmbeddedAnalyst::with_weights(EmbeddedWeights {
            shapes: shapes.clone(),
            sketches: sketches.clone(),
            ..weights.clone()
        })
    };
    // The candidates of all questions, with gold history, and whether each is of a turn.
    let mut rows: Vec<(usize, bool, Choices<Row>)> = Vec::new();
    for (fold, of_fold, models) in &inner {
        let analyst = with(models, &weights);
        rows.extend(of_fold.iter().filter_map(|item| {
            let choices = choices(&analyst, item, &item.question)?;
            Some((*fold, !item.stand_alone, choices))
        }));
    }
    step("candidates");
    // The network also learns from conversations with mistakes: each later turn is added with the
    // answers of a first network as its history. It is trained on the turns of the other folds,
    // because it would make too few mistakes on its own.
    let mut of_own: Vec<Choices<Row>> = Vec::new();
    for (fold, of_fold, models) in &inner {
        let others = rows.iter().filter(|(of, turn, _)| *turn && of != fold);
        let others: Vec<&Choices<Row>> = others.map(|(.., choices)| choices).collect();
        let first = EmbeddedWeights {
            network: network::fit(&others, 1, seed),
            ..weights.clone()
        };
        let analyst = with(models, &first);
        let own = converse(&analyst, of_fold);
        let later = own.iter().filter(|a| !a.item.first);
        of_own.extend(later.filter_map(|a| choices(&analyst, a.item, &a.question)));
    }
    step("candidates with own history");
    let rows = rows.iter().map(|(.., choices)| choices);
    let rows: Vec<&Choices<Row>> = rows.chain(&of_own).collect();
    weights.network = network::fit(&rows, network::NETWORKS, seed);
    step("network");
    weights
}

/// Answers the questions of a fold with weights that were trained on the other folds: each question
/// with its gold history, and each turn also with the analyst's own history.
fn examine<'a>(weights: &EmbeddedWeights, test: &[&'a Item]) -> Vec<Answer<'a>> {
    let mut out = Vec::new();
    let analyst = EmbeddedAnalyst::with_weights(weights.clone());
    for item in test.iter().filter(|item| item.gold.is_some()) {
        let page = analyst.index(&item.question.document);
        let compared = candidates(&analyst, &page, &item.question);
        let mut all = programs(&analyst, &page, &item.question).into_iter();
        let history = if item.stand_alone { "" } else { "gold" };
        out.push(Answer {
            possible: all.any(|program| item.is_right(&program)),
            compared: compared.iter().any(|c| item.is_right(&c.program)),
            ..Answer::new(&analyst, &page, item, item.question.clone(), history)
        });
    }
    let own = converse(&analyst, test).into_iter();
    out.extend(own.filter(|answer| answer.item.gold.is_some()));
    out
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut files = Vec::new();
    for file in options.files.iter().chain(&options.data) {
        files.push(File::read(file)?);
    }
    let own = files.last().filter(|_| options.data.is_some());
    let own = own.map(|file| file.name.clone());
    let hold_out = options.hold_out.as_deref();
    if let Some(name) = hold_out.filter(|name| files.iter().all(|file| file.name != *name)) {
        return Err(format!("--hold-out {name}: none of the files").into());
    }
    let mut all = items::items(files, hold_out);
    let leave_out = |all: &mut [Item], also: Option<&String>| {
        for item in all {
            let mut left_out = options.only_test.iter().chain(also);
            item.only_tested = item.held_out || left_out.any(|name| *name == item.file);
        }
    };
    let kept = options.keep.as_deref();
    let mut before = None;
    if let Some(own) = &own {
        leave_out(&mut all, Some(own));
        let kept = kept.map(|folder| folder.join("without-data"));
        let (report, _) = cross_validate(&all, &options, kept.as_deref(), false)?;
        before = Some(report.rates_beside(own));
    }
    leave_out(&mut all, None);
    let (report, whole) = cross_validate(&all, &options, kept, options.write.is_some())?;
    if options.folds > 0 {
        report.print();
        report.print_confidence();
    }
    if let (Some(own), Some(before)) = (&own, &before) {
        println!("right without and with {own}:");
        for (name, (n, right)) in report.rates_beside(own) {
            let without = before.get(&name).map_or(0, |(_, right)| *right);
            let percent = |right: usize| 100.0 * right as f64 / n as f64;
            println!(
                "{name:48} {n:5} {:5.1} % {:5.1} %",
                percent(without),
                percent(right)
            );
        }
    }
    if let Some(path) = &options.misses {
        report.write_misses(path)?;
    }
    if let Some(folder) = kept {
        for fold in 0..options.folds {
            let folder = folder.join(fold.to_string());
            let mut weights = EmbeddedWeights::read(&folder)?;
            weights.confidence = report.confidence(Some(fold));
            round(&mut weights);
            write(&weights, &folder)?;
        }
    }
    if let (Some(folder), Some(mut weights)) = (&options.write, whole) {
        if options.folds > 0 {
            weights.confidence = report.confidence(None);
        }
        round(&mut weights);
        write(&weights, folder)?;
    }
    Ok(())
}

/// Answers the questions of each fold with weights that were trained on the other folds. If
/// `wanted`, also trains the weights on all folds.
fn cross_validate<'a>(
    all: &'a [Item],
    options: &Options,
    kept: Option<&Path>,
    wanted: bool,
) -> Result<(Report<'a>, Option<EmbeddedWeights>), Box<dyn std::error::Error>> {
    let mut examples = classifiers::examples(all);
    if let Some(file) = &options.dialogues {
        let fold = |id: &str| {
            let page = page_of_record(id);
            let known = all.iter().find(|item| item.page() == page);
            known.map_or_else(|| items::fold_of(page), |item| item.fold)
        };
        let is_known = |item: &Item, id: &str| {
            item.question.key.id == id || item.held_out && item.page() == page_of_record(id)
        };
        let known = |id: &str| all.iter().any(|item| is_known(item, id));
        examples.extend(classifiers::of_dialogues(file, fold, known)?);
    }
    let examples = &examples;
    println!(
        "{} questions, {} for shapes and sketches",
        all.len(),
        examples.len()
    );
    if let Some(folder) = kept {
        keep_for_these(folder, all, options)?;
    }
    // Training on all folds takes the longest, so it comes first.
    let mut jobs: Vec<Option<usize>> = (0..options.folds).map(Some).collect();
    if wanted {
        jobs.insert(0, None);
    }
    let next = AtomicUsize::new(0);
    let work = || -> std::io::Result<Vec<_>> {
        let mut done = Vec::new();
        while let Some(without) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let weights = train_or_read(all, examples, *without, options.seed, kept)?;
            let test: Vec<&Item> = all.iter().filter(|i| Some(i.fold) == *without).collect();
            let answers = examine(&weights, &test);
            done.push((*without, (weights, answers)));
        }
        Ok(done)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let done = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.map(|done| {
            done.map_err(|_| "a thread ended early")?
                .map_err(Into::into)
        })
        .collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()
    })?;
    // Sorted, because the jobs can end in any order.
    let mut done: BTreeMap<Option<usize>, _> = done.into_iter().flatten().collect();
    let whole = done.remove(&None).map(|(weights, _)| weights);
    let answers = done.into_values().flat_map(|(_, answers)| answers);
    Ok((Report(answers.collect()), whole))
}

/// Prepares the folder in which weights are kept: creates it with the fold of each page, or checks
/// that the weights in it were trained with the same questions and seed.
fn keep_for_these(
    folder: &Path,
    all: &[Item],
    options: &Options,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut hasher = blake3::Hasher::new();
    for item in all {
        let program = item.program.as_deref().unwrap_or_default();
        let learned = u8::from(!item.only_tested);
        let line = format!(
            "{}|{}|{program}|{learned}\n",
            item.page(),
            item.question.text
        );
        hasher.update(line.as_bytes());
    }
    let folds: BTreeMap<&str, usize> = all.iter().map(|i| (i.page(), i.fold)).collect();
    let questions = hasher.finalize().to_hex().to_string();
    let made = serde_json::json!({"seed": options.seed, "questions": questions}).to_string();
    let path = folder.join("made.json");
    match std::fs::read_to_string(&path) {
        Ok(known) if known != made => Err(format!(
            "{} holds weights of other questions or another seed; name another folder",
            folder.display()
        )
        .into()),
        Ok(_) => Ok(()),
        Err(_) => {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join("folds.json"), serde_json::to_string(&folds)?)?;
            Ok(std::fs::write(path, made)?)
        }
    }
}

/// Trains the weights without a fold, or reads those that an earlier run has kept.
fn train_or_read(
    all: &[Item],
    examples: &[Example],
    without: Option<usize>,
    seed: u64,
    kept: Option<&Path>,
) -> std::io::Result<EmbeddedWeights> {
    let name = without.map_or("all".to_owned(), |fold| fold.to_string());
    let folder = kept.map(|folder| folder.join(name));
    // `write` writes the shapes last, so their file shows that all files are complete.
    if let Some(folder) = folder.as_ref().filter(|f| f.join("shapes.bin").exists()) {
        return EmbeddedWeights::read(folder).map_err(std::io::Error::other);
    }
    let mut weights = train(all, examples, without, seed);
    round(&mut weights);
    if let Some(folder) = folder {
        write(&weights, &folder)?;
    }
    Ok(weights)
}

/// Rounds weights to the two decimals with which they are written, so that the folds are answered
/// with the weights that a reader of the files gets. `confidence::fit` rounds its own.
fn round(weights: &mut EmbeddedWeights) {
    for weight in &mut weights.slots {
        *weight = (*weight * 100.0).round() / 100.0;
    }
}

/// Writes the files of the weights to a folder. `train_or_read` depends on their order.
fn write(weights: &EmbeddedWeights, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("weights.json"), weights.to_json())?;
    std::fs::write(folder.join("network.json"), weights.network_to_json())?;
    std::fs::write(folder.join("sketches.bin"), weights.sketches.to_bytes())?;
    std::fs::write(folder.join("shapes.bin"), weights.shapes.to_bytes())
}
