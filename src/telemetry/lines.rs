//! Reads the file of traces from a position on, for delivering traces later
//! (`convfinqa track sync`).

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

use finqa_core::files;

/// Whole traces, as an OTLP receiver expects them.
#[derive(Clone, Debug, Default)]
pub struct TraceLines {
    /// In the order in which they ended.
    pub traces: Vec<ExportTraceServiceRequest>,
    /// The position of the next line, in bytes; a line still being written begins there.
    pub next: u64,
}

/// Reads at most `limit` traces from byte `from`. A file that is not there has
/// none; a line that was cut is skipped, and a last one without its end left for later.
pub fn read_traces(path: &Path, from: u64, limit: usize) -> std::io::Result<TraceLines> {
    let mut read = TraceLines {
        next: from,
        ..TraceLines::default()
    };
    let mut file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(read),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while read.traces.len() < limit {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        read.next += length as u64;
        read.traces.extend(serde_json::from_slice(&line));
    }
    Ok(read)
}
