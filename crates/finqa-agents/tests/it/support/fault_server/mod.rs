//! A real HTTP server for tests. It speaks chat completions and fails on purpose.
//!
//! ```ignore
//! let server = FaultServer::start(|request| Reply::chat(&format!("you said {}", request.user())));
//! let server = FaultServer::with_faults(0.3, 7, |request| Reply::chat("42"));
//! // server.base_url(), server.azure_endpoint(), server.count(), server.requests()
//! ```
//!
//! The server runs on its own thread and runtime, so that it can serve async tests, tests with a
//! paused clock, and the binary in another process. The behaviour of a faulty server depends on the
//! request body, the seed, and how often it has received the body, but never on the order of
//! arrival.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

mod faults;
mod protocols;
mod reply;

use reply::Delivery;
pub use reply::{Reply, completion};

/// A request as the server received it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number of requests before this one.
    pub index: usize,
    /// The number of earlier requests with the same body.
    pub repeat: usize,
    pub method: String,
    /// The path without the query.
    pub path: String,
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; `null` if it is not JSON.
    pub body: Value,
    pub raw: Vec<u8>,
}

/// The status and the body of the reply, in the protocol of the request's path.
pub fn spoken(request: &Request, reply: Reply) -> (u16, Value) {
    let reply = protocols::refused(request).unwrap_or(reply);
    let reply = protocols::translated(request, reply);
    let body = serde_json::from_slice(&reply.body).unwrap();
    (reply.status, body)
}

impl Request {
    /// Creates a request from a line of a batch.
    pub fn of(path: &str, body: Value) -> Self {
        Self {
            index: 0,
            repeat: 0,
            method: "POST".into(),
            path: path.into(),
            query: String::new(),
            headers: vec![("anthropic-version".into(), "2023-06-01".into())],
            raw: body.to_string().into(),
            body,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The protocol of the path: `messages`, `responses` or `completions`.
    pub fn protocol(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The API key, from any provider's header.
    pub fn key(&self) -> Option<&str> {
        let apart = self.header("api-key").or_else(|| self.header("x-api-key"));
        apart.or_else(|| {
            self.header("authorization")
                .and_then(|value| value.strip_prefix("Bearer "))
        })
    }

    /// The role and the text of each message, in any protocol.
    pub fn conversation(&self) -> Vec<(String, String)> {
        let name = match self.protocol() {
            "responses" => "input",
            _ => "messages",
        };
        let messages = self.body[name].as_array().into_iter().flatten();
        messages
            .map(|message| {
                let role = message["role"].as_str().unwrap_or_default();
                (role.to_owned(), text_of(&message["content"]))
            })
            .collect()
    }

    /// The text of the last message of this role.
    pub fn last(&self, role: &str) -> String {
        let mut conversation = self.conversation().into_iter();
        let last = conversation.rfind(|(who, _)| who == role);
        last.map(|(_, text)| text).unwrap_or_default()
    }

    pub fn user(&self) -> String {
        self.last("user")
    }

    /// The instructions, wherever the protocol puts them.
    pub fn system(&self) -> String {
        match self.protocol() {
            "messages" => text_of(&self.body["system"]),
            "responses" => text_of(&self.body["instructions"]),
            _ => match self.last("system") {
                text if text.is_empty() => self.last("developer"),
                text => text,
            },
        }
    }
}

/// A text, or the joined texts of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| text_of(&block["text"])).collect(),
        _ => String::new(),
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    /// The requests that were read completely so far.
    requests: Mutex<Vec<Request>>,
    /// The number of requests in progress, and the maximum of that number so far.
    in_flight: Mutex<(usize, usize)>,
}

/// A running server. It stops when it is dropped.
pub struct FaultServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl FaultServer {
    /// Starts a server on a free port of this machine that answers with `handler`.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), handler)
    }

    /// Starts a server at this address, such as the address of an earlier server.
    pub fn at(
        address: SocketAddr,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            requests: Mutex::default(),
            in_flight: Mutex::default(),
        });
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let thread = std::thread::spawn({
            let (shared, stop) = (Arc::clone(&shared), stop.clone());
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let listener = TcpListener::from_std(listener).unwrap();
                    let serve = async {
                        loop {
                            let (stream, _) = listener.accept().await.unwrap();
                            tokio::spawn(connection(stream, Arc::clone(&shared)));
                        }
                    };
                    tokio::select! { () = stop.cancelled() => (), () = serve => () }
                });
            }
        });
        Self {
            address,
            shared,
            stop,
            thread: Some(thread),
        }
    }

    /// Starts a server that answers with `handler`, but fails for this share of all bodies.
    pub fn with_faults(
        rate: f64,
        seed: u64,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |request| faults::failing(rate, seed, request, handler(request)))
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The value for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// The value for `AZURE_OPENAI_ENDPOINT` and `ANTHROPIC_BASE_URL`.
    pub fn azure_endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of requests that were read completely so far.
    pub fn count(&self) -> usize {
        self.shared.requests.lock().unwrap().len()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The maximum number of requests that were in progress at the same time.
    pub fn most_in_flight(&self) -> usize {
        self.shared.in_flight.lock().unwrap().1
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // If the server panicked, its client has already noticed it.
            let _ = thread.join();
        }
    }
}

async fn connection(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer, &shared).await {
        {
            let mut flight = shared.in_flight.lock().unwrap();
            flight.0 += 1;
            flight.1 = flight.1.max(flight.0);
        }
        let reply = protocols::refused(&request).unwrap_or_else(|| (shared.handler)(&request));
        let reply = protocols::translated(&request, reply);
        tokio::time::sleep(reply.delay).await;
        shared.in_flight.lock().unwrap().0 -= 1;
        if !write_reply(&mut stream, &reply).await {
            return;
        }
    }
}

async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    shared: &Shared,
) -> Option<Request> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|part| part == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
        if !buffer[0].is_ascii_uppercase() {
            // The bytes are not HTTP (a TLS greeting, for example), so answer like a web server.
            let told = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(told).await.ok()?;
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    let headers: Vec<(String, String)> = headers.collect();
    let mut lengths = headers.iter().filter(|(name, _)| name == "content-length");
    let length = lengths
        .next()
        .map_or(0, |(_, value)| value.parse().unwrap());
    let body_start = head_end + 4;
    while buffer.len() < body_start + length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let raw = buffer[body_start..body_start + length].to_vec();
    buffer.drain(..body_start + length);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut requests = shared.requests.lock().unwrap();
    let request = Request {
        index: requests.len(),
        repeat: requests.iter().filter(|earlier| earlier.raw == raw).count(),
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body: serde_json::from_slice(&raw).unwrap_or_default(),
        raw,
    };
    requests.push(request.clone());
    Some(request)
}

/// Sends a reply; returns true if the connection stays open.
async fn write_reply(stream: &mut TcpStream, reply: &Reply) -> bool {
    match reply.delivery {
        Delivery::Hang => {
            // Wait until the client closes the connection.
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            return false;
        }
        Delivery::Reset => {
            stream.set_zero_linger().unwrap();
            return false;
        }
        _ => (),
    }
    let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_whole = reply.delivery == Delivery::Whole;
    let part = if is_whole {
        &reply.body[..]
    } else {
        &reply.body[..reply.body.len() / 2]
    };
    head.push_str(&format!("content-length: {}\r\n\r\n", reply.body.len()));
    let bytes = [head.as_bytes(), part].concat();
    stream.write_all(&bytes).await.is_ok() && is_whole
}
