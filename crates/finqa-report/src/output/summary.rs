//! Writes `summary.json` and `config.toml`.

use std::path::Path;

use finqa_journal::run::{RunMeta, Summary};

use super::staged::{OutputError, write_atomic, write_json_pretty};

pub fn write_summary(path: &Path, summary: &Summary) -> Result<(), OutputError> {
    write_json_pretty(path, summary)
}

/// Writes `config.toml`, a settings file that can be used again. Its comments have the models, the
/// hashes of data, prompts and plan, and the `notes`.
pub fn write_config(path: &Path, meta: &RunMeta, notes: &[String]) -> Result<(), OutputError> {
    let RunMeta {
        id,
        started,
        version,
        identity,
        data,
        settings,
        ..
    } = meta;
    let mut note = String::new();
    if let Some(shard) = &meta.shard {
        note.push_str(&format!("# part    {shard}\n"));
    }
    for line in notes {
        note.push_str(&format!("# note    {line}\n"));
    }
    let text = format!(
        "# Run {id}, started {started}, convfinqa {version}\n\
         # model   {}\n# critic  {}\n# data    {data} (blake3 {})\n# prompts blake3 {}\n# plan    blake3 {}\n{note}\n{settings}",
        identity.model, identity.critic, identity.data, identity.prompts, identity.plan
    );
    write_atomic(path, |file| file.write_all(text.as_bytes()))
}
