//! `convfinqa cache`: what the response cache holds, why a request is not in it, and how it
//! is emptied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgMatches, Subcommand};
use serde::Serialize;

use crate::pipeline::requests_of;
use finqa_agents::llm::{CacheKey, CacheLookup, ResponseCache};
use finqa_core::text::counted;

use super::args::OutputFolder;
use super::{Exit, Failure, runtime, settings, stdout};

/// Shows or empties the response cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Count a cache's replies by model.
    Stats(StatsArgs),
    /// Show whether a question's requests are cached and, if not, how the nearest entry differs.
    Explain(ExplainArgs),
    /// Delete all entries of a cache.
    Clear(FolderArgs),
}

/// The folder of the cache.
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct FolderArgs {
    /// Folder of the cache [default: CONVFINQA_CACHE, or `cache` in convfinqa.toml]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Print the statistics as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Run: its folder, its id, a prefix of its id, or `last`
    run: String,
    /// Question: a record's id, or ID#PART, where PART is `qa`, `qa_0`, `qa_1` or a turn's number
    question: String,
    #[command(flatten)]
    output: OutputFolder,
}

/// Does what the command says.
pub(crate) fn execute(command: &CacheCommand, matches: &ArgMatches) -> anyhow::Result<Exit> {
    match command {
        CacheCommand::Stats(args) => stats(&open(&args.folder, matches)?, args.json)?,
        CacheCommand::Explain(args) => {
            let output = args.output.path(matches)?;
            explain(&open(&args.folder, matches)?, args, &output)?;
        }
        CacheCommand::Clear(args) => {
            let deleted = open(args, matches)?.clear()?;
            stdout::print(|out| writeln!(out, "deleted {}", counted(deleted, "entry")))?;
        }
    }
    Ok(Exit::Done)
}

fn open(args: &FolderArgs, matches: &ArgMatches) -> anyhow::Result<ResponseCache> {
    let folder = settings::load(args, matches, None)?.model.cache;
    let folder =
        folder.ok_or_else(|| Failure::usage("no cache folder is set; pass --cache DIR"))?;
    Ok(ResponseCache::existing(&folder, Arc::new(|_| {}))?)
}

fn stats(cache: &ResponseCache, json: bool) -> anyhow::Result<()> {
    let stats = cache.stats();
    if json {
        stdout::print_json(&stats)?;
        return Ok(());
    }
    let time = |seconds: u64| {
        let seconds = i64::try_from(seconds).unwrap_or_default();
        jiff::Timestamp::from_second(seconds).unwrap_or_default()
    };
    stdout::print(|out| {
        writeln!(
            out,
            "{}, {} bytes",
            counted(stats.entries, "entry"),
            stats.bytes
        )?;
        if let Some((first, last)) = stats.stored {
            writeln!(out, "stored from {} to {}", time(first), time(last))?;
        }
        for (server, entries) in &stats.servers {
            writeln!(out, "{entries:>8}  {server}")?;
        }
        if stats.damaged > 0 {
            writeln!(
                out,
                "{} damaged files, which are replaced when their reply is requested again",
                stats.damaged
            )?;
        }
        Ok(())
    })?;
    Ok(())
}

fn explain(cache: &ResponseCache, args: &ExplainArgs, output: &Path) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let requests = runtime.block_on(requests_of(output, &args.run, &args.question))?;
    stdout::print(|out| {
        for asked in &requests {
            let node = &asked.request.node;
            match cache.explain(&CacheKey::new(&asked.server, &asked.request)) {
                CacheLookup::Stored { file } => writeln!(out, "{node}: cached in {file}")?,
                CacheLookup::Empty => writeln!(out, "{node}: not cached; the cache is empty")?,
                CacheLookup::Nearest { file, differences } => {
                    writeln!(
                        out,
                        "{node}: not cached; the nearest entry, {file}, differs in"
                    )?;
                    for field in differences {
                        writeln!(out, "  {field}")?;
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(())
}
