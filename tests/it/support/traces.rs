//! Receives and reads OTLP traces, and makes spans of them that are easy to compare.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span as Sent;
use prost::Message;
use serde_json::{Value, json};

use super::cli::Workplace;
use super::fault_server::{FaultServer, Reply};

/// A span with the ids of its trace and its parent.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Vec<u8>,
    pub name: String,
    pub kind: i32,
    pub failed: bool,
    pub said: String,
    pub events: Vec<String>,
    pub service: Value,
    pub attributes: BTreeMap<String, Value>,
}

impl Span {
    #[track_caller]
    pub fn get(&self, name: &str) -> &Value {
        self.attributes
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    pub fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap()
    }

    pub fn children<'a>(&self, among: &'a [Self]) -> Vec<&'a Self> {
        among
            .iter()
            .filter(|span| span.trace == self.trace && span.parent == self.id)
            .collect()
    }

    fn new(sent: Sent, service: &Value) -> Self {
        let status = sent.status.unwrap_or_default();
        Self {
            trace: sent.trace_id,
            id: sent.span_id,
            parent: sent.parent_span_id,
            name: sent.name,
            kind: sent.kind,
            failed: status.code == 2,
            said: status.message,
            events: sent.events.into_iter().map(|event| event.name).collect(),
            service: service.clone(),
            attributes: named(sent.attributes),
        }
    }
}

fn named(
    attributes: Vec<opentelemetry_proto::tonic::common::v1::KeyValue>,
) -> BTreeMap<String, Value> {
    let mut known = BTreeMap::new();
    for attribute in attributes {
        let value = plain(attribute.value.unwrap().value.unwrap());
        let before = known.insert(attribute.key.clone(), value);
        assert!(before.is_none(), "{} twice", attribute.key);
    }
    known
}

fn plain(value: Any) -> Value {
    match value {
        Any::StringValue(text) => json!(text),
        Any::BoolValue(yes) => json!(yes),
        Any::IntValue(n) => json!(n),
        Any::DoubleValue(x) => json!(x),
        Any::ArrayValue(list) => list
            .values
            .into_iter()
            .map(|item| plain(item.value.unwrap()))
            .collect(),
        other => panic!("{other:?}"),
    }
}

/// The spans of an export request.
pub fn spans_of(request: ExportTraceServiceRequest) -> Vec<Span> {
    let mut spans = Vec::new();
    for group in request.resource_spans {
        let service = json!(named(group.resource.unwrap().attributes));
        for scope in group.scope_spans {
            spans.extend(
                scope
                    .spans
                    .into_iter()
                    .map(|span| Span::new(span, &service)),
            );
        }
    }
    spans
}

/// An OTLP receiver that accepts every request.
pub fn collector() -> FaultServer {
    FaultServer::start(|_| Reply::new(200, "application/x-protobuf", ""))
}

/// Every span that a receiver was sent.
pub fn received(collector: &FaultServer) -> Vec<Span> {
    collector
        .requests()
        .iter()
        .flat_map(|request| {
            assert_eq!(request.path, "/v1/traces");
            assert_eq!(
                request.header("content-type"),
                Some("application/x-protobuf")
            );
            spans_of(ExportTraceServiceRequest::decode(&request.raw[..]).unwrap())
        })
        .collect()
}

/// Every span in the trace file of the only run, a list for each line.
pub fn written(place: &Workplace) -> Vec<Vec<Span>> {
    written_in(&place.run_folder().join("traces.jsonl"))
}

/// Every span in a trace file, a list for each line.
pub fn written_in(path: &std::path::Path) -> Vec<Vec<Span>> {
    let read = finqa_report::telemetry::read_traces(path).unwrap();
    read.map(spans_of).collect()
}

/// The spans without a parent: one for each question.
pub fn questions(spans: &[Span]) -> Vec<&Span> {
    let roots = spans.iter().filter(|span| span.parent.is_empty());
    roots.collect()
}

/// A field of the span of a log line, or of the nearest listed span around it that has the field;
/// null if none has it.
pub fn of_spans<'v>(line: &'v Value, name: &str) -> &'v Value {
    let around = line["spans"].as_array().into_iter().flatten();
    let mut spans = std::iter::once(&line["span"]).chain(around);
    spans
        .find_map(|span| span.get(name))
        .unwrap_or(&Value::Null)
}
