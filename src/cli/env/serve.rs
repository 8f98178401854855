//! `convfinqa env serve`: the environment's server, over HTTP or standard input.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::ArgMatches;
use tokio_util::sync::CancellationToken;

use crate::output::terminal::{ProgressOptions, Voice};
use finqa_env::episode::Rules;
use finqa_env::reward::RewardMode;
use finqa_env::server::{self, ServerError, ServerOptions};
use finqa_env::tools::{ToolLimits, Tools};

use super::super::{Exit, Failure, settings, signals, telemetry};
use super::{catalog, oddities};
use crate::settings::LogSettings;

/// What is served, to whom, and within which limits.
#[derive(clap::Args, Debug)]
pub struct ServeArgs {
    /// Data directory in the layout of OpenEnv's finqa_env [default: the built-in sample]
    #[arg(long, value_name = "DIR", env = "FINQA_DATA_PATH")]
    data: Option<OsString>,
    /// Serve MCP over standard input and output instead of a port
    #[arg(long, conflicts_with_all = ["host", "port"])]
    stdio: bool,
    /// Address to listen on; 0.0.0.0 opens the server to the network
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    port: u16,

    /// Step at which an episode without an answer ends
    #[arg(long, value_name = "N", env = "FINQA_MAX_STEPS", default_value_t = 50,
          value_parser = clap::value_parser!(u64).range(1..), help_heading = "Episodes")]
    max_steps: u64,
    /// Task (there is only one)
    #[arg(long, value_name = "TASK", env = "FINQA_TASK", default_value = "finqa",
          value_parser = ["finqa"], help_heading = "Episodes")]
    task: String,
    /// Grade exactly like OpenEnv's finqa_env, or without its known exploits
    #[arg(long, value_name = "MODE", default_value = "reference",
          value_parser = ["reference", "strict"], help_heading = "Episodes")]
    reward: String,

    /// Maximum number of open sessions
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        help_heading = "Limits"
    )]
    max_sessions: usize,
    /// Maximum number of open sessions of one client, identified by its address
    /// [default: half of --max-sessions, at least 256]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_sessions_per_client: Option<usize>,
    /// Seconds after which a session without a socket is dropped; 0 keeps it
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1800,
        help_heading = "Limits"
    )]
    idle_timeout: u64,
    /// Maximum size of a message or body, in bytes
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 262_144,
        help_heading = "Limits"
    )]
    message_limit: usize,
    /// Maximum requests per second of one session, and of one client outside its sessions; faster
    /// ones are slowed down; 0 for no limit
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        help_heading = "Limits"
    )]
    rate_limit: u32,
    /// Bearer token that requests must contain
    #[arg(
        long,
        value_name = "TOKEN",
        env = "FINQA_TOKEN",
        hide_env_values = true,
        help_heading = "Limits"
    )]
    token: Option<String>,
    /// Additional host name that requests and pages may use; can be repeated
    #[arg(long, value_name = "HOST", help_heading = "Limits")]
    allow_host: Vec<String>,
    /// Do not serve the page for playing by hand
    #[arg(long, help_heading = "Limits")]
    no_web: bool,
    #[command(flatten)]
    log: LogSettings,
}

/// Serves until a signal comes.
///
/// # Errors
/// Data that cannot be read, an address that cannot be taken.
pub fn execute(args: ServeArgs, matches: &ArgMatches) -> anyhow::Result<Exit> {
    let catalog = catalog(args.data.as_deref())?;
    let oddities = oddities(&catalog);
    let (source, questions) = (catalog.source().to_owned(), catalog.questions().len());
    let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let shutdown = CancellationToken::new();
    let log = settings::logging(&args.log, matches)?;
    let voice = Voice::new(ProgressOptions {
        logged: telemetry::is_logged(log.log),
        ..ProgressOptions::default()
    });
    telemetry::start_logs(&log, &voice)?;
    let ended = runtime.block_on(async {
        tokio::spawn(stop_at_signal(shutdown.clone()));
        if args.stdio {
            server::serve_stdio(tools, shutdown).await?;
            return Ok(Exit::Done);
        }
        let rules = Rules {
            max_steps: args.max_steps,
            reward: if args.reward == "strict" {
                RewardMode::Strict
            } else {
                RewardMode::OpenEnv
            },
        };
        let warning = open_to_all(&args);
        let options = options(args)?;
        let listener = server::bind(&options).await.map_err(explained)?;
        let address = listener.local_addr().context("cannot read the address")?;
        if let Some(line) = oddities {
            voice.say(&line);
        }
        if let Some(line) = warning {
            voice.say(line);
        }
        voice.say(&format!(
            "serving {source} ({questions} questions) on http://{address}; Ctrl-C stops"
        ));
        server::serve(listener, tools, rules, options, shutdown).await?;
        Ok(Exit::Done)
    });
    // A query that nobody waits for any more, or a read of standard input, must
    // not hold the end up.
    runtime.shutdown_background();
    ended
}

/// A warning where the server asks for no token though it seems meant to.
fn open_to_all(args: &ServeArgs) -> Option<&'static str> {
    match args.token.as_deref() {
        Some("") => Some(
            "warning: the token is empty (--token or FINQA_TOKEN), so the server asks for none",
        ),
        None if !args.host.is_loopback() => Some(
            "warning: the server is open to the network without a token; set FINQA_TOKEN, or \
             listen on 127.0.0.1",
        ),
        _ => None,
    }
}

/// A port that is taken is what a person meets who starts the server twice.
fn explained(error: ServerError) -> anyhow::Error {
    match &error {
        ServerError::Bind { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            let said = format!(
                "{error}: another program does; name another --port, or 0 for one that is free"
            );
            Failure::new(Exit::Usage, said).into()
        }
        _ => error.into(),
    }
}

fn options(args: ServeArgs) -> anyhow::Result<ServerOptions> {
    let none_each = args.max_sessions_per_client == Some(0);
    if args.max_sessions == 0 || none_each || args.message_limit < 1024 {
        let said = "--max-sessions and --max-sessions-per-client must be at least 1 and \
                    --message-limit at least 1024";
        return Err(Failure::new(Exit::Usage, said).into());
    }
    Ok(ServerOptions {
        host: args.host,
        port: args.port,
        max_sessions: args.max_sessions,
        max_sessions_per_client: args.max_sessions_per_client,
        idle_timeout: (args.idle_timeout > 0).then(|| Duration::from_secs(args.idle_timeout)),
        message_limit: args.message_limit,
        rate_limit: Some(args.rate_limit).filter(|n| *n > 0),
        bearer_token: args.token.filter(|token| !token.is_empty()).map(Into::into),
        allowed_hosts: args.allow_host,
        web: !args.no_web,
        ..ServerOptions::default()
    })
}

/// The first signal stops in order, the second ends the process.
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
        open_to_all(&Line::try_parse_from(line).unwrap().args)
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
