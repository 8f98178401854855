//! Files of predictions, good and bad.

use finqa_core::number::Value;
use finqa_score::dataset::{Case, Outcome, sample};
use finqa_score::score::files::{PredictionRow, read_predictions, rescore};
use finqa_score::score::{Rule, ScoreError, Scorecard};

fn read(bytes: impl AsRef<[u8]>) -> Result<Vec<PredictionRow>, ScoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("predictions");
    std::fs::write(&path, bytes).unwrap();
    read_predictions(&path)
}

/// The message without the folder, which is another one every time.
fn message(bytes: impl AsRef<[u8]>) -> String {
    let text = read(bytes).unwrap_err().to_string();
    match text.split_once("predictions") {
        Some((_, rest)) => format!("predictions{rest}"),
        None => text,
    }
}

const HEADER: &str = "id,question,ground_truth,prediction,latency,exact_match,numerical_match";

#[test]
fn the_layout_of_the_langgraph_baseline() {
    let csv = format!(
        "\u{feff}{HEADER}\nDouble_A/1/p.pdf,\"what, \"\"x\"\"\nor y?\",14.10%,14.13,1.5,FALSE,TRUE\n\
         Double_A/1/p.pdf,z,-5,'-5,2,FALSE,TRUE\nSingle_B/1/p.pdf-1,z,0.3,,2,FALSE,TRUE\n"
    );
    let rows = read(&csv).unwrap();
    assert_eq!(rows[0].question, "what, \"x\"\nor y?");
    assert_eq!((rows[0].line, rows[1].line), (2, 4));
    assert_eq!(rows[1].prediction, "-5");
    let scored = rescore(rows, None).unwrap();
    let parts: Vec<&str> = scored.iter().map(|row| row.key.part.as_str()).collect();
    assert_eq!(parts, ["qa_0", "qa_1", "qa"]);
    assert_eq!(scored[0].filename, "A/1/p.pdf");
    let card = Scorecard::of(&scored);
    assert_eq!(card.rates.get(Rule::ExactMatch).unwrap().hits, 1);
    // An empty prediction is 0 to the LangGraph baseline, and so right for 0.3; not here.
    assert_eq!(scored[2].outcome(), Outcome::ParseFailure);
    assert_eq!(card.rates.get(Rule::NumericalMatch).unwrap().hits, 2);
    assert_eq!(card.answered.get(Rule::NumericalMatch).unwrap().n, 2);
    assert!(card.rates.get(Rule::ProgramAccuracy).is_none());
}

#[test]
fn our_layout_and_jsonl() {
    let csv = format!(
        "{HEADER},part,answer,value,program,outcome\n\
         r,q,0.14136,0.14136,1,True,True,3,14.1%,0.141364,\"divide(1, 2)\",answered\n\
         r,q,7,,1,False,False,4,,,,content_filter\n"
    );
    let rows = read(csv).unwrap();
    assert_eq!(rows[0].value, Some(Value::Number(0.141_364)));
    assert_eq!(rows[1].outcome, Some(Outcome::ContentFilter));
    let scored = rescore(rows, None).unwrap();
    assert_eq!(scored[0].scores.execution_accuracy, Some(true));
    assert_eq!(scored[1].accepted(), Some(false));
    // A zero byte in a reply makes no other encoding.
    let rows = read("id,prediction\nr,a\0b\n").unwrap();
    assert_eq!(rows[0].prediction, "a\0b");

    let jsonl = "{\"record_id\": \"r\", \"turn_idx\": 3, \"predicted_answer\": 14.1, \"gold\": \"yes\"}\n\n\
                 {\"id\": \"r\", \"turn\": 4, \"answer\": \"5\", \"predicted_program\": \"add(2, 3)\", \"expected_answer\": 5.0, \"latency\": 1.5}\n";
    let rows = read(jsonl).unwrap();
    assert_eq!(rows[0].part.as_deref(), Some("3"));
    let read = (rows[0].prediction.as_str(), rows[1].latency);
    assert_eq!(read, ("14.1", Some(1.5)));
    let scored = rescore(rows, None).unwrap();
    assert_eq!(scored[1].scores.program_execution, Some(true));
    assert_eq!(scored[0].accepted(), Some(false));
}

#[test]
fn bad_files_are_one_clear_line() {
    let no_answer = "predictions has no column \
                     `prediction|predicted_answer|answer|program|predicted_program`; it has: id, turn";
    let not_utf8 = "predictions, line 2: the text is not UTF-8; save the file as UTF-8";
    let not_utf8_at_once = "predictions, line 1: the text is not UTF-8; save the file as UTF-8";
    let files: [(&[u8], &str); 17] = [
        (b"", "predictions has no column `id|record_id`; it has: "),
        (b"id,answer\n", "predictions holds no predictions"),
        (b"id,turn\nr,1\n", no_answer),
        (b"{\"id\": \"r\", \"turn\": 1}\n", no_answer),
        (
            b"id,answer\na,1\nr,1,2\n",
            "predictions, line 3: not a row of the table",
        ),
        (b"id,answer\nr,caf\xe9\n", not_utf8),
        (b"\xff\xfei\0d\0,\0", not_utf8_at_once),
        (
            b"id,answer,latency\nr,1,soon\n",
            "predictions, line 2: `latency` holds `soon`, not a number",
        ),
        (
            b"id,answer,epoch\na,1,0\na,1,first\n",
            "predictions, line 3: `epoch` holds `first`, not a whole number",
        ),
        (
            b"id,prediction,rounds\nr,5,1.5\n",
            "predictions, line 2: `rounds` holds `1.5`, not a whole number",
        ),
        (
            b"id,answer,outcome\nr,1,lost\n",
            "predictions, line 2: `outcome` holds `lost`, not a known outcome",
        ),
        (
            b"id,answer\n,1\n",
            "predictions, line 2: `id` holds ``, not a record id",
        ),
        (
            b"{\"id\": \"r\"\n", "predictions, line 1: not a JSON object",
        ),
        // `3,5` between semicolons would be read as 35.
        (
            b"id;prediction\nr;3,5\n",
            "predictions has no column `id|record_id`; it has: id;prediction; separate columns by commas",
        ),
        // The second of two columns was taken in silence, so that a file joined by a
        // spreadsheet was scored by the wrong ids.
        (
            b"id,answer,id\na,1,b\n",
            "predictions, line 2: duplicate field `id`; remove",
        ),
        (
            b"id,answer, record_id\na,1,b\n",
            "predictions, line 2: duplicate field `id`; remove",
        ),
        (
            b"{\"id\": \"a\", \"gold\": 1, \"answer\": 2, \"ground_truth\": 3}",
            "predictions, line 1: duplicate field `ground_truth`; remove",
        ),
    ];
    for (bytes, expected) in files {
        let told = message(bytes);
        assert!(told.starts_with(expected), "{told}");
    }
    // Columns that nobody reads may be repeated.
    assert!(read("id,answer,note,note,,\na,1,x,y,,\n").is_ok());
    let nowhere = read_predictions(std::path::Path::new("no/such/file.csv")).unwrap_err();
    assert_eq!(nowhere.to_string(), "cannot read no/such/file.csv");
}

#[test]
fn a_question_may_stand_once_an_epoch() {
    let rows = |more: &str, first: &str, second: &str| {
        let csv =
            format!("{HEADER}{more}\nr,q,1,1,1,True,True{first}\nr,q,1,2,3,True,True{second}\n");
        rescore(read(csv).unwrap(), None)
    };
    for (more, cells) in [("", ""), (",part", ",qa")] {
        let error = rows(more, cells, cells).unwrap_err().to_string();
        let named = error.starts_with("line 3: r (qa");
        assert!(named && error.ends_with("it first appears on line 2"));
    }
    let scored = rows(",part,epoch,filename", ",qa,0,p.pdf", ",qa,1,p.pdf").unwrap();
    assert_eq!((scored.len(), scored[1].filename.as_str()), (2, "p.pdf"));
}

#[test]
fn a_program_over_a_table_that_is_not_available_is_not_judged() {
    let csv = "id,part,prediction,program,exe_ans\n\
               r,0,5,\"table_sum(x, none)\",5\nr,1,5,\"add(2, 3)\",5\nr,2,5,,5\n";
    let scored = rescore(read(csv).unwrap(), None).unwrap();
    let marks = [0, 1, 2].map(|at: usize| scored[at].scores.program_execution);
    assert_eq!(marks, [None, Some(true), Some(false)]);
}

/// Rows are paired by their text, and gold comes from the dataset. A reworded question once
/// took the place of another one, and its row the wrong gold.
#[test]
fn rows_are_paired_with_the_dataset() {
    let data = sample().unwrap();
    let mut records = data.records.iter();
    let record = records.find(|it| it.questions.len() == 2).unwrap();
    let id = &record.document.id;
    let [first, second] = [0, 1].map(|at| &record.questions[at]);
    let with_gold = |question: &str, gold: &str| {
        let question = question.replace('"', "\"\"");
        format!("\"{id}\",\"{question}\",\"{gold}\",1,0\n")
    };
    let header = "id,question,ground_truth,prediction,epoch\n";
    let paired = |rows: &str| rescore(read(format!("{header}{rows}")).unwrap(), Some(&data));
    let line = |case: &Case| with_gold(&case.question.text.to_uppercase(), "");
    // Out of order.
    let scored = paired(&(line(second) + &line(first))).unwrap();
    assert_eq!(scored[0].key.part, "qa_1");
    assert_eq!(scored[1].key.part, "qa_0");
    assert_eq!(scored[0].gold, second.gold);
    let truth = scored[0].ground_truth().map(|gold| gold.into_owned());
    assert_eq!(truth, second.gold.answer);

    let [gold, others] = [first, second].map(|case| case.gold.answer.clone().unwrap());
    let text = &first.question.text;
    for (rows, expected) in [
        (
            with_gold("in other words?", &gold),
            "has no question for `in other words?`".to_owned(),
        ),
        (
            with_gold(text, &others),
            format!("line 2: {id} (qa_0) has the gold `{others}` here and `{gold}` in"),
        ),
        (
            with_gold(text, &gold).repeat(2),
            "first appears on line 2".to_owned(),
        ),
        (
            "none,,,1,0\n".to_owned(),
            "line 2: built-in sample has no record none".to_owned(),
        ),
    ] {
        let told = paired(&rows).unwrap_err().to_string();
        assert!(told.contains(&expected), "{told}");
    }
    let by_part = read(format!("id,part,prediction\n\"{id}\",99,1\n")).unwrap();
    let told = rescore(by_part, Some(&data)).unwrap_err().to_string();
    assert!(told.contains("has no question for 99"), "{told}");
}

/// Data frames write whole numbers with a decimal and small ones with an
/// exponent; both refused a file that was our own.
#[test]
fn numbers_may_be_written_as_data_frames_write_them() {
    let csv = "id,part,epoch,prediction,ground_truth,rounds,cost_usd\n\
               r,2.0,1.0,5,5,1.0,1e-05\nr,qa,0,5,5,2,0.25\n";
    let rows = read(csv).unwrap();
    assert_eq!(rows[0].part.as_deref(), Some("2"));
    assert_eq!(rows[0].epoch, Some(1));
    assert_eq!(rows[0].rounds, Some(1));
    assert_eq!(rows[0].cost.unwrap().to_string(), "0.00001");
    assert_eq!(rows[1].cost.unwrap().to_string(), "0.25");
}

/// An interrupted run leaves conversations whose last turns have no row. They
/// counted as wholly right.
#[test]
fn a_conversation_without_all_its_turns_is_not_whole() {
    let data = sample().unwrap();
    let long = data.records.iter().find(|r| r.turns.len() > 1).unwrap();
    let gold = |turn: usize| long.turns[turn].gold.exe_ans.clone().unwrap();
    let header = "id,part,epoch,prediction,value\n";
    let line = |turn: usize, epoch: usize| {
        format!(
            "\"{}\",{turn},{epoch},{},{}\n",
            long.id(),
            gold(turn),
            gold(turn)
        )
    };
    let all: String = (0..long.turns.len()).map(|turn| line(turn, 0)).collect();
    let card = |rows: &str, with_data: bool| {
        let rows = read(format!("{header}{rows}")).unwrap();
        let data = with_data.then_some(&data);
        Scorecard::of(&rescore(rows, data).unwrap()).conversations[0].clone()
    };
    let interrupted = card(&format!("{all}{}", line(0, 1)), true);
    assert_eq!((interrupted.conversations, interrupted.incomplete), (2, 1));
    let whole = interrupted.whole.unwrap();
    assert_eq!((whole.hits, whole.n), (1, 1));
    assert_eq!(card(&line(0, 0), true).whole, None);
    // Passes are distinguished by their epoch, not by the order of the rows.
    let later = card(&format!("{}{all}", line(1, 1)), true);
    assert_eq!((later.conversations, later.incomplete), (2, 1));
}

#[test]
fn conversations_count_what_follows_what() {
    // a: right, wrong, wrong, right; b: right, (turn 1 missing), right; c: right.
    let csv = "id,part,prediction,ground_truth,gold_program\n\
               Single_a,0,1,1,1\nSingle_a,1,2,9,9\nSingle_a,2,2,9,\"add(4, 5)\"\nSingle_a,3,3,3,3\n\
               Double_b,0,1,1,1\nDouble_b,2,1,1,\"add(1, 1), subtract(#0, 1)\"\nDouble_c,0,1,1,1\n";
    let card = Scorecard::of(&rescore(read(csv).unwrap(), None).unwrap());
    let card = card
        .conversations
        .iter()
        .find(|c| c.rule == Rule::FinancialEquivalence)
        .unwrap();
    let of = |rate: Option<finqa_core::stats::Rate>| rate.map(|r| (r.hits, r.n));
    // Double_b has no turn 1, so nobody can say that it is whole.
    assert_eq!((card.conversations, card.incomplete), (3, 1));
    assert_eq!(of(card.whole), Some((1, 2)));
    // A missing turn makes no pair of its neighbours.
    assert_eq!(of(card.right_after_right), Some((0, 1)));
    assert_eq!(of(card.right_after_wrong), Some((1, 2)));
    assert_eq!((card.errors, card.errors_after_an_error), (2, 1));
}

#[test]
fn the_scorecard_prints_flat_rates() {
    let csv = format!("{HEADER}\nr,q,5,5,1,True,True\ns,q,6,7,1,True,True\n");
    let card = Scorecard::of(&rescore(read(csv).unwrap(), None).unwrap());
    let json = serde_json::to_value(&card).unwrap();
    assert_eq!(json["numerical_match"], 0.5);
    assert_eq!(json["numerical_match_n"], 2);
    assert!(json["financial_equivalence_low"].as_f64().unwrap() < 0.5);
    assert!(json["execution_accuracy"].is_null());
    assert_eq!(json["execution_accuracy_n"], 0);
    assert_eq!(json["outcomes"][0]["name"], "answered");
    assert_eq!(json["answered"]["exact_match_hits"], 1);
}

/// The rates without suspect golds quoted NM without what a constant answer gets.
#[test]
fn the_rates_without_suspects_have_their_own_floor() {
    let suspects = finqa_score::score::suspects().unwrap();
    let suspect = suspects.iter().find(|s| s.key.part == "qa").unwrap();
    let csv = format!(
        "id,part,prediction,ground_truth\n{},qa,7,7\nSingle_a,qa,5,5\nSingle_b,qa,5,9\n",
        suspect.key.id
    );
    let card = Scorecard::of(&rescore(read(csv).unwrap(), None).unwrap());
    let without = card.without_suspects.as_ref().unwrap();
    assert_eq!(
        without.rates.floor().map(|floor| (floor.hits, floor.n)),
        Some((1, 2))
    );
    assert_eq!(
        serde_json::to_value(&card).unwrap()["without_suspects"]["numerical_match_floor"]["hits"],
        1
    );
}
