//! A file server on this machine that first sends the replies that a test plans.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use sha1::{Digest, Sha1};

use super::fault_server::{FaultServer, Reply};

/// Serves files by their path, which includes the query. Each reply in `before` answers one request
/// for its path; after that, the file is served.
pub fn serve(
    files: Vec<(String, Vec<u8>)>,
    before: impl IntoIterator<Item = (String, Reply)>,
) -> FaultServer {
    let files: HashMap<_, _> = files.into_iter().collect();
    let mut planned: HashMap<String, VecDeque<Reply>> = HashMap::new();
    for (path, reply) in before {
        planned.entry(path).or_default().push_back(reply);
    }
    let planned = Mutex::new(planned);
    FaultServer::start(move |request| {
        let path = match &*request.query {
            "" => request.path.clone(),
            query => format!("{}?{query}", request.path),
        };
        let mut planned = planned.lock().unwrap();
        let reply = planned.get_mut(&path).and_then(VecDeque::pop_front);
        reply.unwrap_or_else(|| match files.get(&path) {
            Some(body) => file(body),
            None => Reply::plain(404, ""),
        })
    })
}

pub fn file(body: &[u8]) -> Reply {
    Reply::new(200, "application/octet-stream", body)
}

/// The number of requests that came for a path.
pub fn requests_for(server: &FaultServer, path: &str) -> usize {
    let requests = server.requests().into_iter();
    requests.filter(|request| request.path == path).count()
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
