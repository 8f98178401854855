//! Asks the embedded analyst a list of questions about files, each without the earlier ones.
//!
//! `ask_list < LIST` reads lines that consist of a path, a tab and a question. For each it prints a
//! line of JSON with `answer`, `plain_value`, `label` and `doubt`. A file is read once for
//! consecutive questions about it.

use std::io::BufRead;
use std::path::Path;

use convfinqa::Session;

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
        let answer = session
            .ask(question)
            .await?
            .and_then(|it| it.solution.answer);
        let printed = serde_json::json!({
            "answer": answer.as_ref().map(|it| &it.printed),
            "plain_value": answer.as_ref().and_then(|it| it.plain_value()),
            "label": answer.as_ref().and_then(|it| it.label.as_ref()),
            "doubt": answer.as_ref().and_then(|it| it.doubt.as_ref()),
        });
        println!("{printed}");
    }
    Ok(())
}
