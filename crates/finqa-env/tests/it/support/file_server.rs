//! A server of files on this machine that cuts, lies and stalls on demand.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use sha1::{Digest, Sha1};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request for a file; after the last it serves.
#[derive(Clone, Debug)]
pub enum Act {
    Serve,
    /// The whole length is announced, this many bytes come.
    Cut(usize),
    /// The range is ignored.
    Whole,
    /// As `Whole`, cut after this many bytes.
    WholeCut(usize),
    /// Another range than was asked for.
    Astray,
    /// Other bytes of the same length.
    Lie,
    Status(&'static str),
    Silent,
}

pub struct FileServer {
    pub url: String,
    /// Path and `Range` header of the requests so far, blank where there was none.
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

struct Files {
    files: HashMap<String, Vec<u8>>,
    acts: Mutex<HashMap<String, VecDeque<Act>>>,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl FileServer {
    /// Serves files by their path, query included; each act is for one request
    /// of its path.
    pub async fn start<'a>(
        files: Vec<(String, Vec<u8>)>,
        acts: impl IntoIterator<Item = (&'a str, Act)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut by_path: HashMap<String, VecDeque<Act>> = HashMap::new();
        for (path, act) in acts {
            by_path.entry(path.to_owned()).or_default().push_back(act);
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let files = Arc::new(Files {
            files: files.into_iter().collect(),
            acts: Mutex::new(by_path),
            seen: Arc::clone(&seen),
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let files = Arc::clone(&files);
                tokio::spawn(async move { files.answer(stream).await });
            }
        });
        Self { url, seen }
    }

    /// A server that we did not start: whatever is at this address.
    pub fn at(url: String) -> Self {
        let seen = Arc::default();
        Self { url, seen }
    }

    /// The `Range` headers of the requests for a path.
    pub fn ranges_of(&self, path: &str) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let of_path = seen.iter().filter(|(asked, _)| asked == path);
        of_path.map(|(_, range)| range.clone()).collect()
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Files {
    async fn answer(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => request.push(byte),
                Err(_) => return,
            }
        }
        let request = String::from_utf8(request).unwrap();
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let headers = request.to_lowercase();
        let range = headers
            .lines()
            .find_map(|line| line.strip_prefix("range: "))
            .unwrap_or_default();
        let seen = (path.clone(), range.to_owned());
        self.seen.lock().unwrap().push(seen);
        let planned = self
            .acts
            .lock()
            .unwrap()
            .get_mut(&path)
            .and_then(VecDeque::pop_front);
        let act = planned.unwrap_or(Act::Serve);
        let (head, rest) = match (&act, self.files.get(&path)) {
            (Act::Silent, _) => {
                // Until the client gives up.
                let _ = stream.read_u8().await;
                return;
            }
            (Act::Status(status), _) => (plain(status), Vec::new()),
            (_, None) => (plain("404 Not Found"), Vec::new()),
            (act, Some(body)) => part(act, body, range),
        };
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = stream.write_all(&rest).await;
        let _ = stream.shutdown().await;
    }
}

fn plain(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// The head and the bytes that are sent of a file.
fn part(act: &Act, body: &[u8], range: &str) -> (String, Vec<u8>) {
    let asked: usize = range
        .strip_prefix("bytes=")
        .and_then(|range| range.strip_suffix('-'))
        .map_or(0, |start| start.parse().unwrap());
    let (start, limit) = match act {
        Act::Cut(limit) => (asked, *limit),
        Act::Whole => (0, usize::MAX),
        Act::WholeCut(limit) => (0, *limit),
        Act::Astray => (asked / 2, usize::MAX),
        _ => (asked, usize::MAX),
    };
    if start >= body.len() && !range.is_empty() {
        return (plain("416 Range Not Satisfiable"), Vec::new());
    }
    let head = if range.is_empty() || matches!(act, Act::Whole | Act::WholeCut(_)) {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        )
    } else {
        format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len() - 1,
            body.len(),
            body.len() - start
        )
    };
    let rest = &body[start.min(body.len())..];
    let mut rest = rest[..limit.min(rest.len())].to_vec();
    if matches!(act, Act::Lie) {
        rest.iter_mut().for_each(|byte| *byte ^= 1);
    }
    (head, rest)
}

/// The git blob id of some bytes.
pub fn blob(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    hasher
        .finalize()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}
