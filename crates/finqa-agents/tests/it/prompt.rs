//! Tests the text that a model is shown.

use std::sync::Arc;

use finqa_agents::parse;
use finqa_agents::prompt::{CriticView, Prompts};
use finqa_core::number::Value;
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};

use crate::support::schema::Schema;

fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
    cells
        .iter()
        .map(|row| row.iter().map(ToString::to_string).collect())
        .collect()
}

fn question() -> Question {
    Question {
        key: QuestionKey {
            id: "Single_INV/2031/page_1.pdf-1".into(),
            part: "1".into(),
        },
        kind: QuestionKind::Turn,
        document: Arc::new(Document {
            id: "Single_INV/2031/page_1.pdf-1".into(),
            filename: "INV/2031/page_1.pdf".into(),
            pre_text: vec!["fees rose .".into(), ".".into()],
            post_text: vec![
                "so \"said\" {the} report & <b>{{ question }}</b> {% if x %} {# y #}".into(),
            ],
            table: rows(&[
                &["", "2031", "2030"],
                &["fees", "$ 48300", "-40250 ( 40250 )"],
            ]),
            ..Document::default()
        }),
        text: "by what percentage did fees grow?".into(),
        history: vec![
            HistoryEntry {
                question: "what were fees in 2031?".into(),
                value: Some(Value::Number(48300.0)),
                program: Some("48300".into()),
                label: Some("fees, 2031".into()),
                source: HistorySource::Own,
            },
            HistoryEntry {
                question: "and in 2030?".into(),
                value: None,
                program: None,
                label: None,
                source: HistorySource::Own,
            },
        ],
    }
}

fn view() -> CriticView {
    CriticView {
        analysis: "{\"answer\": \"20%\"}".into(),
        value: Some("0.2".into()),
        printed: "20%".into(),
        findings: vec!["unit: percent & number".into()],
    }
}

#[test]
fn the_user_message_of_the_analyst() {
    let prompt = Prompts::embedded().analyst(&question()).unwrap();
    let expected = r#"THE PAGE
[t1] fees rose .

|     | c0   | c1      | c2     |
|-----|------|---------|--------|
| r0  |      | 2031    | 2030   |
| r1  | fees | $ 48300 | -40250 |

[t3] so "said" {the} report & <b>{{ question }}</b> {% if x %} {# y #}
END OF THE PAGE

EARLIER TURNS
[h1] what were fees in 2031? -> 48300 (program: 48300; fees, 2031)
[h2] and in 2030? -> no answer

Question: by what percentage did fees grow?"#;
    assert_eq!(prompt.user, expected);
}

/// The critic is shown everything that the analyst was shown, and then the analysis.
#[test]
fn the_user_message_of_the_critic() {
    let prompts = Prompts::embedded();
    let prompt = prompts.critic(&question(), &view()).unwrap();
    let seen = prompts.analyst(&question()).unwrap().user;
    let expected = r#"

THE ANALYSIS
{"answer": "20%"}

Executed value of its program: 0.2
Printed answer: 20%

AUTOMATIC FINDINGS
- unit: percent & number

Check it: reply with ALL_OK alone, or with the JSON of your findings."#;
    assert_eq!(prompt.user.strip_prefix(&seen).unwrap(), expected);
}

#[test]
fn the_follow_ups() {
    let prompts = Prompts::embedded();
    let reask = prompts.reask("the object has no `answer` {{ x }}").unwrap();
    assert!(
        reask.starts_with("Your reply could not be read: the object has no `answer` {{ x }}.\n"),
        "{reask}"
    );
    let revise = prompts
        .revise(&["r1c1: {% wrong %} & old".into(), "unit".into()])
        .unwrap();
    assert!(
        revise.contains("found:\n- r1c1: {% wrong %} & old\n- unit\nCheck"),
        "{revise}"
    );
}

/// Prefix caches need that everything up to the earlier turns is the same for each turn about a
/// page and for both agents, and that a longer history only appends.
#[test]
fn stable_text_comes_first() {
    let prompts = Prompts::embedded();
    let later = question();
    let first = Question {
        history: later.history[..1].to_vec(),
        text: "another".into(),
        ..later.clone()
    };
    let a = prompts.analyst(&first).unwrap();
    let b = prompts.analyst(&later).unwrap();
    let critic = prompts.critic(&later, &view()).unwrap();
    assert_eq!(a.system, b.system);
    let shared = a.user.find("\n\nQuestion: ").unwrap();
    assert!(b.user.starts_with(&a.user[..shared]));
    assert!(critic.user.starts_with(&b.user));
    // In every turn, the page must end at the same byte, because a provider's cache needs it.
    let page = &a.user[..a.page_bytes];
    assert!(page.ends_with("END OF THE PAGE"), "{page}");
    for prompt in [&b, &critic] {
        assert_eq!(&prompt.user[..prompt.page_bytes], page);
    }
}

/// The example reply in the prompt must have the requested form.
#[test]
fn the_example_in_the_prompt_has_the_form_of_the_schema() {
    let prompt = Prompts::embedded().analyst(&question()).unwrap();
    let (_, example) = prompt.system.rsplit_once("\n{\"steps\"").unwrap();
    let reply: serde_json::Value = serde_json::from_str(&format!("{{\"steps\"{example}")).unwrap();
    let schema = Schema::new(&parse::analysis_schema());
    schema.accepts(&reply);
    let mut other = reply;
    other["program"] = serde_json::Value::Null;
    schema.accepts(&other);
    other["more"] = 1.into();
    assert!(!schema.is_valid(&other));
}

/// Tests the shorter instructions for small models, which `--prompts prompts/small` uses.
#[test]
fn the_small_prompt_is_short_and_its_example_is_json() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prompts/small");
    let small = Prompts::embedded().with_dir(&folder).unwrap();
    let system = |prompts: &Prompts| {
        let prompt = prompts.analyst(&question());
        prompt.unwrap().system
    };
    let (short, long) = (system(&small), system(&Prompts::embedded()));
    assert!(short.len() * 2 < long.len(), "{short}");
    let (_, example) = short.rsplit_once("\n{\"steps\"").unwrap();
    let reply: serde_json::Value = serde_json::from_str(&format!("{{\"steps\"{example}")).unwrap();
    assert!(reply["answer"].is_string(), "{reply}");
}

#[test]
fn a_folder_overrides_by_file_name_and_changes_the_hash() {
    let folder = tempfile::tempdir().unwrap();
    let same = Prompts::embedded().with_dir(folder.path()).unwrap();
    assert_eq!(same.hash(), Prompts::embedded().hash());
    assert_eq!(same.hash().len(), 64);
    std::fs::write(folder.path().join("_house.j2"), "Say please.").unwrap();
    let system = "{% include \"_house.j2\" %}";
    std::fs::write(folder.path().join("analyst_system.j2"), system).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "{{ not a template").unwrap();
    let other = Prompts::embedded().with_dir(folder.path()).unwrap();
    assert_ne!(other.hash(), same.hash());
    let prompt = other.analyst(&question()).unwrap();
    assert_eq!(prompt.system, "Say please.");
}

#[test]
fn bad_templates_are_one_line_that_names_file_and_line() {
    let refusal = |name: &str, source: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), source).unwrap();
        let error = Prompts::embedded().with_dir(folder.path());
        let error = error.unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    for (name, source, reason) in [
        (
            "analyst_user.j2", "a\n\n{{ qestion }}\n", "`qestion` is undefined",
        ),
        ("page.j2", "a\n\n{% for x in %}", "unexpected end of block"),
        ("revise.j2", "\n\n{% include \"_gone.j2\" %}", "'_gone.j2'"),
    ] {
        let error = refusal(name, source);
        let (start, place) = ("DIR: ", format!("(in {name}:3)"));
        assert!(
            error.starts_with(start) && error.ends_with(&place),
            "{error}"
        );
        assert!(error.contains(reason), "{error}");
    }
    let unknown = refusal("anlyst_user.j2", "x");
    let words =
        "DIR/anlyst_user.j2: no template has this name; the templates are analyst_system.j2, ";
    assert!(unknown.starts_with(words), "{unknown}");
    let missing = Prompts::embedded().with_dir(std::path::Path::new("no/such/folder"));
    let missing = missing.unwrap_err().to_string();
    assert!(
        missing.starts_with("no/such/folder: cannot read the templates: "),
        "{missing}"
    );
}
