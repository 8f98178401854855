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
    /// Other bytes of the same length.
    Lie,
    Status(&'static str),
    Silent,
}

pub struct FileServer {
    pub url: String,
    files: Arc<Files>,
}

#[derive(Default)]
struct Files {
    files: HashMap<String, Vec<u8>>,
    acts: Mutex<HashMap<String, VecDeque<Act>>>,
    /// The paths of the requests so far.
    seen: Mutex<Vec<String>>,
}

impl FileServer {
    /// Serves files by their path, query included; each act is for one request
    /// of its path.
    pub async fn start(
        files: Vec<(String, Vec<u8>)>,
        acts: impl IntoIterator<Item = (String, Act)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut by_path: HashMap<String, VecDeque<Act>> = HashMap::new();
        for (path, act) in acts {
            by_path.entry(path).or_default().push_back(act);
        }
        let files = Arc::new(Files {
            files: files.into_iter().collect(),
            acts: Mutex::new(by_path),
            seen: Mutex::default(),
        });
        let served = Arc::clone(&files);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = Arc::clone(&served);
                tokio::spawn(async move { served.answer(stream).await });
            }
        });
        Self { url, files }
    }

    /// A server that we did not start: whatever is at this address.
    pub fn at(url: String) -> Self {
        let files = Arc::default();
        Self { url, files }
    }

    /// How many requests for a path came.
    pub fn requests_for(&self, path: &str) -> usize {
        let seen = self.files.seen.lock().unwrap();
        seen.iter().filter(|asked| *asked == path).count()
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.files.seen.lock().unwrap().len()
    }
}

impl Files {
    async fn answer(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else {
                return;
            };
            request.push(byte);
        }
        let request = String::from_utf8(request).unwrap();
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        self.seen.lock().unwrap().push(path.clone());
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
            (act, Some(body)) => whole(act, body),
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
fn whole(act: &Act, body: &[u8]) -> (String, Vec<u8>) {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let mut sent = body.to_vec();
    match act {
        Act::Cut(limit) => sent.truncate(*limit),
        Act::Lie => sent.iter_mut().for_each(|byte| *byte ^= 1),
        _ => {}
    }
    (head, sent)
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
