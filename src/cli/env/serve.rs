//! `convfinqa env serve`: serves the environment over HTTP or over standard input and output.

use std::ffi::OsString;
use std::sync::Arc;

use clap::ArgMatches;
use secrecy::ExposeSecret;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use finqa_core::text::counted;
use finqa_env::episode::EpisodeRules;
use finqa_env::server::{self, ServerOptions};
use finqa_env::tools::{ToolLimits, Tools, limit_process_memory};
use finqa_report::output::terminal::{ProgressOptions, TerminalWriter};

use super::super::{Exit, Failure, settings, signals, telemetry};
use super::{catalog, problems_note};
use finqa_journal::settings::LogSettings;

#[derive(clap::Args, Debug)]
pub(crate) struct ServeArgs {
    /// Data directory in the layout of OpenEnv's finqa_env, or `sample` [default: the built-in sample]
    #[arg(long, value_name = "DIR", env = "FINQA_DATA_PATH")]
    data_path: Option<OsString>,
    /// Serve MCP over standard input and output instead of on a port
    #[arg(long, conflicts_with_all = ["host", "port"])]
    stdio: bool,
    #[command(flatten)]
    options: ServerOptions,
    #[command(flatten)]
    rules: EpisodeRules,
    // OpenEnv's variable. This environment has one task, so any other name is refused.
    #[arg(long, env = "FINQA_TASK", default_value = "finqa", value_parser = ["finqa"], hide = true)]
    task: String,
    #[command(flatten)]
    log: LogSettings,
}

/// Maximum bytes of memory for all queries together, including idle databases, as
/// docs/finqa-environment.md states. Set by hand.
const QUERY_MEMORY: usize = 64 << 20;

/// Serves until a signal arrives.
pub(crate) fn execute(mut args: ServeArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let catalog = catalog(args.data_path.as_deref())?;
    let oddities = problems_note(&catalog);
    let (source, questions) = (catalog.source().to_owned(), catalog.questions().len());
    // The limit is for the whole process. That is safe, because the process opens no other
    // database.
    limit_process_memory(QUERY_MEMORY).map_err(Failure::bug("cannot limit the memory"))?;
    let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
    args.options.server_id = host_name();
    let runtime = Runtime::new().map_err(Failure::bug("cannot start the runtime"))?;
    let shutdown = CancellationToken::new();
    let log = settings::logging(&args.log, matches)?;
    let writer = TerminalWriter::new(ProgressOptions {
        logged: telemetry::logs_json(log.log),
        ..ProgressOptions::default()
    });
    telemetry::start_logs(&log, &writer)?;
    let ended = runtime.block_on(async {
        tokio::spawn(stop_at_signal(shutdown.clone()));
        if args.stdio {
            server::serve_stdio(tools, shutdown).await?;
            return Ok(Exit::Done);
        }
        let warning = open_to_all(&args.options);
        let listener = server::bind(&args.options).await?;
        let address = listener
            .local_addr()
            .map_err(Failure::bug("cannot read the address"))?;
        if let Some(line) = oddities {
            writer.say(&line);
        }
        if let Some(line) = warning {
            writer.say(line);
        }
        writer.say(&format!(
            "serving {source} ({}) on http://{address}; Ctrl-C stops",
            counted(questions, "question")
        ));
        server::serve(listener, tools, args.rules, args.options, shutdown).await;
        Ok(Exit::Done)
    });
    // A runtime that waited for its tasks would wait for a running query or a pending read of
    // stdin.
    runtime.shutdown_background();
    ended
}

/// A warning if the server requires no token although it should: the given token is empty, or the
/// server is open to the network. Otherwise `None`.
fn open_to_all(options: &ServerOptions) -> Option<&'static str> {
    let token = options
        .bearer_token
        .as_ref()
        .map(ExposeSecret::expose_secret);
    match token {
        Some("") => Some(
            "warning: the token is empty (--token or FINQA_TOKEN), so the server does not require one",
        ),
        None if !options.host.is_loopback() => Some(
            "warning: the server is open to the network without a token; set FINQA_TOKEN, or \
             listen on 127.0.0.1",
        ),
        _ => None,
    }
}

/// The host's name without its domain, reduced to letters, digits, `-` and `_`, so that a proxy can
/// route to this server by it. In a container, the variable HOSTNAME has it. `None` if no character
/// is left.
fn host_name() -> Option<String> {
    let named = ["HOSTNAME", "COMPUTERNAME"].map(|name| std::env::var(name).ok());
    let name = named.into_iter().flatten().next();
    let name = name.unwrap_or_else(finqa_journal::run::host_name);
    let plain = name.split('.').next().unwrap_or_default().chars();
    let plain: String = plain
        .filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
        // Set by hand: the name only has to tell servers apart.
        .take(64)
        .collect();
    (!plain.is_empty()).then_some(plain)
}

/// Shuts the server down at the first signal. Ends the process at the second one.
async fn stop_at_signal(shutdown: CancellationToken) {
    let mut signals = signals::Signals::new();
    if signals.next().await {
        shutdown.cancel();
        if signals.next().await {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ServeArgs,
    }

    fn warned(line: &[&str]) -> Option<&'static str> {
        let line = ["serve"].iter().chain(line);
        open_to_all(&Line::try_parse_from(line).unwrap().args.options)
    }

    #[test]
    fn a_server_without_a_token_is_warned_of_where_others_reach_it() {
        let open = warned(&["--host", "0.0.0.0"]).unwrap();
        assert!(open.starts_with("warning: the server is open to the network"));
        assert!(warned(&["--host", "::"]).is_some());
        assert_eq!(warned(&["--host", "0.0.0.0", "--token", "s3cret"]), None);
        assert_eq!(warned(&["--host", "127.0.0.2"]), None);
        assert_eq!(warned(&[]), None);
        let empty = warned(&["--token", ""]).unwrap();
        assert!(empty.starts_with("warning: the token is empty"));
    }
}
