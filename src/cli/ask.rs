//! `convfinqa ask`: asks questions about the user's own document. A question may refer to the
//! questions before it.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use finqa_agents::llm::{CallEvent, ModelSettings, Observer, Stop};
use finqa_agents::pair::{AgentSettings, Sampling};
use finqa_ask::{AskError, Asked, PAGE_TOKENS, Session};
use finqa_core::text::single_spaced;
use finqa_documents::Document;
use finqa_journal::run::ReplyNotes;
use finqa_journal::settings::{LogSettings, Settings, Variables};
use finqa_report::output::AnswerView;
use finqa_report::output::terminal::{
    ProgressOptions, TerminalWriter, answer_text, explanation_text, short_answer, table_lines,
};
use finqa_run::engine::RunModels;
use finqa_run::pipeline::{advice, judge_of_own_document, stored_replies};

use super::args::{ConfigFile, ReplayArgs, needs_model};
use super::run::{fatal, notify};
use super::{Exit, Failure, dotenv, settings, signals, stdout, telemetry};

#[derive(clap::Args, Debug)]
pub(crate) struct AskArgs {
    /// Report (HTML with or without inline XBRL, PDF, XLSX) or page (Markdown, plain text with tables in aligned columns, CSV, TSV) to ask about
    file: PathBuf,
    /// Question, in quotes; without it, each line of stdin is a question and may refer to earlier ones
    question: Option<String>,
    /// Maximum size of the excerpt of a report that a chat model is shown, in tokens of three
    /// characters
    #[arg(long, value_name = "N", default_value_t = PAGE_TOKENS)]
    page_tokens: usize,
    /// List the tables that were read, and ask nothing; with --json also their cells
    #[arg(long, help_heading = "Output", conflicts_with = "question")]
    list_tables: bool,
    /// Print one line of JSON per answer
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Also print how the embedded analyst read the question, the candidates that it compared, and why it is sure or not
    #[arg(long, help_heading = "Output", conflicts_with_all = ["quiet", "list_tables"])]
    explain: bool,
    /// Print only the answer and, on stderr, any reason to doubt it
    #[arg(long, short = 'q', help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    settings: AskSettings,
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    stored: ReplayArgs,
}

/// The groups of settings that `ask` uses.
#[derive(clap::Args, Debug, Serialize)]
struct AskSettings {
    #[command(flatten)]
    #[serde(flatten)]
    model: ModelSettings,
    #[command(flatten)]
    #[serde(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    #[serde(flatten)]
    agents: AgentSettings,
    /// File that `convfinqa calibrate` wrote, from which each answer gets the probability that it is right [default: the built-in calibration with a chat model and second opinions]
    #[arg(long, value_name = "FILE", help_heading = "Stated error")]
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    log: LogSettings,
}

/// Asks the question on the command line, or one question per line of stdin.
pub(crate) fn execute(args: &AskArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = settings::load(&args.settings, matches, args.config.config.as_deref())?;
    refuse_question_alone(&args.file)?;
    let document = finqa_documents::open(&args.file)?;
    if args.list_tables {
        return list_tables(&document, args.json);
    }
    let replay = args.stored.open()?;
    needs_model(replay.as_ref(), &settings.model)?;
    let quiet = args.quiet;
    let writer = TerminalWriter::new(ProgressOptions {
        quiet,
        logged: telemetry::logs_json(settings.log.log),
        ..ProgressOptions::default()
    });
    let runtime = Runtime::new().map_err(Failure::bug("cannot start the runtime"))?;
    telemetry::start_logs(&settings.log, &writer)?;
    let variables = dotenv::variables();
    say_notes(&document, &settings, &variables, &writer)?;
    let mut models = RunModels {
        observer: retry_notes(writer.clone()),
        replies: stored_replies(&settings, replay.as_ref(), &notify(writer.clone()))?,
        ..RunModels::default()
    };
    let options = models.connect_pair(&settings, &variables)?;
    for notice in models.notices(&settings, &variables) {
        writer.warn(&notice);
    }
    let (judge, warning) = judge_of_own_document(&settings, &models, &options)?;
    warning.iter().for_each(|line| writer.warn(line));
    let stop = Stop::default();
    let mut session = Session::new(document, &options, args.page_tokens, judge, stop.clone())?;
    if args.explain {
        session = session.with_explanations();
    }
    let asking = Asking {
        session,
        explain: args.explain,
        json: args.json,
        quiet,
        stop: stop.clone(),
        writer,
    };
    let exit = runtime.block_on(async {
        signals::listen(stop, None, |_| {});
        match &args.question {
            Some(question) => asking.once(question).await,
            None => asking.questions().await,
        }
    });
    // A runtime that waited for its tasks would wait for the pending read of stdin.
    runtime.shutdown_background();
    exit
}

/// Prints notes about the document, then about the settings.
fn say_notes(
    document: &Document,
    settings: &Settings,
    variables: &Variables,
    writer: &TerminalWriter,
) -> Result<(), Failure> {
    for note in &document.notes {
        writer.say(&format!("note: {note}"));
    }
    for line in advice(settings, variables)? {
        writer.say(&line);
    }
    if let Some(origin) = settings.origins.get("max_error") {
        let place = origin.place_of("max_error");
        writer.say(&format!("note: {place} has no effect on ask"));
    }
    Ok(())
}

/// An observer of calls that prints a line for each request that is sent again.
fn retry_notes(writer: TerminalWriter) -> Observer {
    Arc::new(move |event| {
        if let CallEvent::Retry(notice) = event {
            writer.say(&format!(
                "trying again in {:.1} s: {}",
                notice.delay.as_secs_f64(),
                notice.words()
            ));
        }
    })
}

/// Refuses a file that does not exist and has a space in its name. It is probably a question whose
/// document is missing.
fn refuse_question_alone(file: &Path) -> Result<(), Failure> {
    let name = file.to_string_lossy();
    if file.exists() || !name.contains(' ') {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "no file named \"{}\": name the document before the question (convfinqa ask FILE \"QUESTION\")",
        single_spaced(&name)
    )))
}

/// A session, with the options for printing its answers.
struct Asking {
    session: Session,
    explain: bool,
    json: bool,
    /// True if only the answers and the reasons to doubt them are printed.
    quiet: bool,
    stop: Stop,
    writer: TerminalWriter,
}

impl Asking {
    /// Asks one question. The exit code says whether its answer is sure.
    async fn once(mut self, text: &str) -> Result<Exit, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::usage("the question is empty"));
        }
        match self.ask(text).await? {
            None => Ok(Exit::Interrupted),
            Some((true, _)) => Ok(Exit::Done),
            Some(_) => Ok(Exit::Unanswered),
        }
    }

    /// Asks each line of stdin as a question.
    async fn questions(mut self) -> Result<Exit, Failure> {
        let prompt = !self.quiet && std::io::stdin().is_terminal();
        if prompt {
            let name = &self.session.document().name;
            super::note(format_args!("Ask about {name}; Ctrl-D ends."));
        }
        let mut lines = lines();
        let mut exit = Exit::Done;
        let mut asked = false;
        loop {
            if prompt {
                // Not `eprint!`, which would panic if stderr is closed.
                let _ = write!(std::io::stderr(), "> ");
            }
            let line = tokio::select! {
                () = self.stop.drain.cancelled() => return Ok(Exit::Interrupted),
                line = lines.recv() => line,
            };
            let Some(line) = line else { break };
            let line = line.map_err(Failure::bug("stdin cannot be read"))?;
            if !line.trim().is_empty() {
                asked = true;
                let Some((is_sure, has_reader)) = self.ask(line.trim()).await? else {
                    return Ok(Exit::Interrupted);
                };
                if !is_sure {
                    exit = Exit::Unanswered;
                }
                // Stop here, because further answers would be paid for and never read.
                if !has_reader {
                    break;
                }
            }
        }
        if !asked {
            return Err(Failure::usage(
                "no question: give one on the command line, or one per line on stdin",
            ));
        }
        Ok(exit)
    }

    /// Asks one question and prints its answer. Returns whether the answer is sure, and whether
    /// stdout is still open. `None` if the question was cancelled.
    async fn ask(&mut self, text: &str) -> Result<Option<(bool, bool)>, Failure> {
        let asked = match self.session.ask(text).await {
            Err(AskError::Failure(failure)) => return Err(fatal(failure)),
            asked => asked?,
        };
        let Some(asked) = asked else {
            return Ok(None);
        };
        let Asked {
            question,
            solution,
            explanation,
        } = asked;
        // Notes about the replies of the server are printed once, with the first answer.
        if question.history.is_empty() {
            let mut notes = ReplyNotes::default();
            solution.calls.iter().for_each(|call| notes.add(call));
            for line in notes.lines() {
                self.writer.say(&format!("note: {line}"));
            }
        }
        let view = AnswerView::new(&question, &solution, self.session.calibration());
        let read = stdout::print(|out| {
            if self.json {
                let mut json = view.json();
                if let Some(fields) = json.as_object_mut().filter(|_| self.explain) {
                    fields.insert("explanation".to_owned(), json!(explanation));
                }
                serde_json::to_writer(&mut *out, &json)?;
                writeln!(out)
            } else if self.quiet {
                writeln!(out, "{}", short_answer(&solution))
            } else {
                writeln!(out, "{}", answer_text(&view))?;
                if self.explain {
                    let is_opinion = !solution.calls.is_empty();
                    write!(
                        out,
                        "{}",
                        explanation_text(explanation.as_ref(), is_opinion)
                    )?;
                }
                Ok(())
            }
        })?;
        let doubt = view.doubt();
        let title = match &solution.answer {
            None => "no answer",
            Some(_) => "not sure",
        };
        if let Some(why) = doubt.as_ref().filter(|_| self.quiet && !self.json) {
            super::note(format_args!("{title}: {why}"));
        }
        Ok(Some((doubt.is_none(), read)))
    }
}

/// Prints the tables that were read: two lines for each or, with `json`, their cells.
fn list_tables(report: &Document, json: bool) -> Result<Exit, Failure> {
    super::notes(&report.notes);
    for line in &report.left_out {
        super::note(format_args!("not read: {line}"));
    }
    let tables = report.listed();
    if json {
        for (at, table) in tables.iter().enumerate() {
            stdout::print(|out| writeln!(out, "{}", table.json(at + 1)))?;
        }
        return Ok(Exit::Done);
    }
    let tables = (1..).zip(&tables);
    let text: String = tables
        .map(|(number, table)| table_lines(number, table))
        .collect();
    stdout::print_text(&text)
}

/// The lines of stdin. A separate thread reads them, because a blocking read of a terminal cannot
/// be cancelled.
fn lines() -> mpsc::Receiver<std::io::Result<String>> {
    // Bounded, so that a piped file is not read into memory as a whole.
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let line = match stdin.read_until(b'\n', &mut bytes) {
                Ok(0) => return,
                Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
                Err(error) => Err(error),
            };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
