//! Consumers of run events: csv, jsonl, terminal, report, MLflow.
