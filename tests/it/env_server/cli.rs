//! `convfinqa env serve` and `env check` as a person runs them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use finqa_run::env_build::build;
use serde_json::json;

use crate::support::cli::{CommandExt, Workplace};

/// `env serve` on a free port.
fn serve(place: &Workplace) -> Command {
    let mut command = place.command();
    command.args(["env", "serve", "--port", "0"]);
    command
}

/// Starts a server; gives the first line that it prints, too.
fn started(command: &mut Command) -> (Child, String) {
    let process = command.stderr(Stdio::piped()).spawn();
    let mut process = process.expect("the server starts");
    let mut line = String::new();
    let mut printed = BufReader::new(process.stderr.take().expect("its messages"));
    printed.read_line(&mut line).expect("a line");
    (process, line)
}

/// A server in a process of its own.
pub(super) struct Served {
    process: Child,
    pub(super) address: String,
    _place: Workplace,
}

impl Served {
    /// With variables of the environment.
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        Self::at(Workplace::new(), variables).0
    }

    /// In this folder; gives the first line that it prints, too.
    fn at(place: Workplace, variables: &[(&str, &str)]) -> (Self, String) {
        let mut command = serve(&place);
        let (process, line) = started(command.envs(variables.iter().copied()));
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split(';').next())
            .unwrap_or_else(|| panic!("no address in {line:?}"))
            .to_owned();
        let served = Self {
            process,
            address,
            _place: place,
        };
        (served, line)
    }

    /// Sends a request as it stands; gives the whole answer.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        answer
    }

    fn post(&self, path: &str, body: &str) -> String {
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// A number that the system keeps of the process.
    #[cfg(target_os = "linux")]
    fn number(&self, file: &str, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id()));
        let text = text.expect("what the system keeps");
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.expect("a number").parse().expect("a number")
    }

    /// A stateless query of the built-in data's first table.
    fn query(&self, query: &str) -> String {
        let catalog = finqa_run::env_build::builtin().expect("the built-in data");
        let (company, found) = catalog.companies().first_key_value().expect("a company");
        let table = found.keys().next().expect("a table");
        let asked = json!({"company_name": company, "table_name": table, "query": query});
        let body = json!({"action": {"tool_name": "sql_query", "arguments": asked}});
        self.post("/step", &body.to_string())
    }

    /// Ends it in order, which must succeed.
    fn stop(mut self) {
        let ended = Command::new("kill")
            .args(["-TERM", &self.process.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(ended.success());
        assert!(
            self.process.wait().expect("it ends").success(),
            "a clean end"
        );
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `.env` was read after the arguments, so that its token left the server open.
#[test]
fn a_dotenv_sets_the_token_and_the_log_and_an_exported_variable_beats_it() {
    for (exported, token) in [
        (&[][..], "of-the-file"),
        (&[("FINQA_TOKEN", "exported")], "exported"),
    ] {
        let place = Workplace::new();
        place.write(".env", "FINQA_TOKEN=of-the-file\nCONVFINQA_LOG=json\n");
        let (server, line) = Served::at(place, exported);
        assert!(line.starts_with('{'), "{line}");
        let ask = |token: &str| {
            server.ask(&format!(
                "GET /metadata HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 authorization: Bearer {token}\r\n\r\n"
            ))
        };
        assert!(
            ask("another").starts_with("HTTP/1.1 401"),
            "{}",
            ask("another")
        );
        assert!(ask(token).starts_with("HTTP/1.1 200"), "{}", ask(token));
        server.stop();
    }
}

/// Sorting, grouping and recursion spilled to files in the temporary folder, as
/// much as a query could write in its time.
#[cfg(target_os = "linux")]
#[test]
fn no_query_writes_to_the_disk() {
    let server = Served::with(&[]);
    let before = server.number("io", "wchar:");
    for query in [
        "with recursive t(x, y) as (select 1, printf('%.*c', 30000, 'x') union all select x + 1, y from t) select x from t where 1 order by y || x",
        "with recursive t(x, y) as (select 1, printf('%.*c', 30000, 'x') union select x + 1, y from t) select count(*) from t where 1",
        "with recursive t(x, y) as materialized (select 1, printf('%.*c', 30000, 'x') union all select x + 1, y from t) select count(*) from t where y in (select y from t)",
        "with recursive t(x) as (select 1 union all select x + 1 from t) select max(x) from t where 1 group by x || printf('%.*c', 25000, 'x')",
        "with recursive t(x) as (select 1 union all select x + 1 from t) select count(distinct x || printf('%.*c', 25000, 'x')) from t where 1",
    ] {
        let answer = server.query(query);
        // A fast machine reaches the limit of memory before that of time.
        let ends = [
            "interrupted: the limit is",
            "it needs more memory than a query may have",
        ];
        assert!(ends.iter().any(|end| answer.contains(end)), "{answer}");
    }
    let written = server.number("io", "wchar:") - before;
    assert!(written < 1_000_000, "{written} bytes");
    server.stop();
}

/// OpenEnv's `finqa_env` is healthy without its data and fails at the first request.
#[test]
fn a_server_without_its_data_does_not_start() {
    let place = Workplace::new();
    let ran = serve(&place).given("--data-path no/such/folder").ran();
    ran.fails(
        3,
        &[
            "error: no/such/folder/", "not a data directory", "env build",
        ],
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

/// A table that is cut off was served without a word.
#[test]
fn a_server_with_damaged_data_says_so_when_it_starts() {
    let place = Workplace::new();
    let sample = finqa_score::dataset::sample().expect("the sample");
    build(&sample, &place.path("made")).expect("it is built");
    let company = place.path("made/input_companies/PYLN");
    let table = std::fs::read_dir(company)
        .expect("a company")
        .next()
        .expect("a table")
        .expect("an entry")
        .path();
    std::fs::write(table, "{\"item\": [\"reven").expect("written");
    let ran = place.run("env play -n 1 --export-episodes a.jsonl --data-path made");
    let said = &ran.succeeds().stderr;
    assert!(
        said.starts_with("note: found 1 problem in") && said.contains("env check"),
        "{said}"
    );
    let (mut process, line) = started(serve(&place).args(["--data-path", "made"]));
    process.kill().expect("killed");
    process.wait().expect("ended");
    assert!(line.starts_with("note: found 1 problem in"), "{line}");
}

#[test]
fn an_address_that_is_taken_is_one_clear_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let ran = Workplace::new().run(&format!("env serve --port {port}"));
    ran.fails(
        2,
        &[&format!("cannot listen on 127.0.0.1:{port}"), "--port"],
    );
}

#[test]
fn the_contracts_variables_set_the_step_limit_and_name_the_task() {
    let server = Served::with(&[("FINQA_MAX_STEPS", "1"), ("FINQA_TASK", "finqa")]);
    let answer = server.query("select 1 as one from data where 1 = 1");
    assert!(answer.contains(r#""done":true"#), "{answer}");
    server.stop();
    for (name, value) in [("FINQA_TASK", "sec"), ("FINQA_MAX_STEPS", "many")] {
        serve(&Workplace::new())
            .env(name, value)
            .ran()
            .fails(2, &[value]);
    }
}
