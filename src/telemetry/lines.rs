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
    /// Whole lines that are not traces and were skipped.
    pub unreadable: usize,
}

/// Reads at most `limit` traces from byte `from`. A file that is not there has
/// none; a last line without its end is left for later.
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
        match serde_json::from_slice(&line) {
            Ok(trace) => read.traces.push(trace),
            Err(_) => read.unreadable += 1,
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_continues_where_it_stopped_and_leaves_a_cut_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traces.jsonl");
        let none = read_traces(&path, 0, 9).unwrap();
        assert_eq!((none.traces.len(), none.next), (0, 0));

        let trace = r#"{"resourceSpans":[]}"#;
        std::fs::write(&path, format!("{trace}\nnonsense\n{trace}\n{{\"resour")).unwrap();
        let first = read_traces(&path, 0, 1).unwrap();
        assert_eq!(first.traces.len(), 1);
        let rest = read_traces(&path, first.next, 9).unwrap();
        assert_eq!((rest.traces.len(), rest.unreadable), (1, 1));
        let whole = format!("{trace}\nnonsense\n{trace}\n");
        assert_eq!(rest.next, whole.len() as u64);
    }
}
