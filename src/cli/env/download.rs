//! `convfinqa env download`: downloads and verifies the published benchmark.

use std::path::PathBuf;

use finqa_agents::llm;
use finqa_core::text::counted;
use finqa_env::data::{Catalog, HubEvent, HubOptions, NOTICE, download};
use finqa_report::output::terminal::download_bar;

use super::super::stdout::print_text;
use super::super::{Exit, Failure, runtime};

#[derive(clap::Args, Debug)]
pub(crate) struct HubArgs {
    /// Target folder; intact files are not downloaded again
    #[arg(long, short = 'o', value_name = "DIR", default_value = "data/finqa")]
    output: PathBuf,
    /// Branch, tag or commit of the published dataset
    #[arg(long, value_name = "REVISION", default_value_t = HubOptions::default().revision)]
    revision: String,
    /// URL of the Hugging Face Hub or a mirror [default: the public hub]
    #[arg(long, value_name = "URL", env = "HF_ENDPOINT")]
    hub: Option<String>,
}

/// Downloads the benchmark and prints what the folder contains.
pub(crate) fn execute(args: HubArgs) -> Result<Exit, Failure> {
    let mut options = HubOptions {
        revision: args.revision,
        ..HubOptions::default()
    };
    // An empty HF_ENDPOINT counts as unset.
    if let Some(hub) = args.hub.filter(|hub| !hub.is_empty()) {
        options.hub = hub;
    }
    // Follows redirects, because a hub stores large files on other hosts.
    let client = llm::download_client()?;
    let (writer, bar) = download_bar("{bar:30} {pos}/{len} files {eta}");
    writer.line(NOTICE);
    let on_event = |event: HubEvent| match event {
        HubEvent::Listed {
            commit,
            files,
            bytes,
        } => {
            bar.set_length(files as u64);
            writer.line(&format!("commit {commit}: {files} files, {bytes} bytes"));
        }
        HubEvent::Retrying(line) => writer.line(&line),
        HubEvent::Done => bar.inc(1),
    };
    let commit = runtime()?.block_on(download(&client, &args.output, &options, &on_event))?;
    bar.finish_and_clear();
    let report = Catalog::load(&args.output)?.check();
    let to = args.output.display();
    let mut text = format!(
        "{to}: {} about {}, {}; commit {commit}, every file verified\n",
        counted(report.questions, "question"),
        counted(report.companies, "company"),
        counted(report.tables, "table")
    );
    if !report.problems.is_empty() {
        let problems = counted(report.problems.len(), "problem");
        let line = format!("found {problems}; run `convfinqa env check --data-path {to}`\n");
        text.push_str(&line);
    }
    print_text(&text)
}
