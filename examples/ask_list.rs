//! Asks the embedded analyst a list of questions about files, each without the earlier ones.
//!
//! `ask_list < LIST` reads lines that consist of a path, a tab and a question. For each it prints a
//! line of JSON with `answer` (a list of several values), `plain_value`, `label`, `confidence` and
//! `doubt`, which without an answer says why there is none. A file is read once for consecutive
//! questions about it.

use std::io::BufRead;
use std::path::Path;

use convfinqa::{Asked, Session};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut open: Option<(String, Session)> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((file, question)) = line.split_once('\t') else {
            continue;
        };
        let session = match &mut open {
            Some((name, session)) if name == file => session,
            _ => {
                let session = Session::open(Path::new(file))?;
                &mut open.insert((file.to_owned(), session)).1
            }
        };
        session.forget();
        let Some(Asked { solution, .. }) = session.ask(question).await? else {
            continue;
        };
        let answer = solution.answer.as_ref();
        let doubt = answer.map_or(solution.error.as_ref(), |it| it.doubt.as_ref());
        let printed = serde_json::json!({
            "answer": answer.map(|it| match it.values.as_slice() {
                [] => serde_json::json!(it.printed),
                values => serde_json::json!(values),
            }),
            "plain_value": answer.and_then(|it| it.plain_value()),
            "label": answer.and_then(|it| it.label.as_ref()),
            "confidence": answer.and_then(|it| it.confidence),
            "doubt": doubt,
        });
        println!("{printed}");
    }
    Ok(())
}
