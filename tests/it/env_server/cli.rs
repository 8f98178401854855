//! `convfinqa env serve` and `env check` as a person runs them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn convfinqa() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convfinqa"));
    for name in [
        "FINQA_DATA_PATH",
        "FINQA_MAX_STEPS",
        "FINQA_TASK",
        "FINQA_TOKEN",
    ] {
        command.env_remove(name);
    }
    command
}

#[test]
fn serve_answers_health_without_any_data_and_ends_at_a_signal() {
    let mut server = convfinqa()
        .args(["env", "serve", "--port", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    let mut told = BufReader::new(server.stderr.take().expect("its messages"));
    told.read_line(&mut line).expect("a line");
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split(';').next())
        .unwrap_or_else(|| panic!("no address in {line:?}"));
    let mut stream = TcpStream::connect(address).expect("connected");
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    assert!(answer.ends_with(r#"{"status":"healthy"}"#), "{answer}");
    let ended = Command::new("kill")
        .args(["-TERM", &server.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(ended.success());
    assert!(server.wait().expect("it ends").success(), "a clean end");
}

#[test]
fn check_says_what_there_is() {
    let output = convfinqa()
        .args(["env", "check"])
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("questions"), "{text}");
    let missing = convfinqa()
        .args(["env", "check", "no/such/folder"])
        .output()
        .expect("it runs");
    assert_eq!(missing.status.code(), Some(3));
    assert_eq!(
        String::from_utf8_lossy(&missing.stderr).lines().count(),
        1,
        "one clear line"
    );
}

#[test]
fn an_address_that_is_taken_is_one_clear_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let output = convfinqa()
        .args(["env", "serve", "--port", &port])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(&format!("cannot listen on 127.0.0.1:{port}")),
        "{said}"
    );
}
