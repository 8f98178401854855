//! Golds that were corrected after the answers, and golds that contradict themselves.

use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;

const CHANGE: &str = "what was the percentage change in sales from 2000 to 2001?";

/// A record whose sales rise from 25 to 31.
fn record(number: usize, question: &str, answer: &str, program: &str, exe_ans: Json) -> Json {
    json!({
        "id": format!("Single_ZED/2001/page_{number}.pdf-1"),
        "filename": format!("ZED/2001/page_{number}.pdf"),
        "pre_text": [format!("this is sheet {number} of zed .")],
        "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "31", "25"]],
        "qa": {"question": question, "answer": answer, "program": program, "exe_ans": exe_ans}
    })
}

/// Two records; the gold of the first is wrong in `old.json` and right in `own.json`.
fn corrected(place: &Workplace) {
    let programs = [
        "subtract(31, 25), divide(#0, 31)", "subtract(31, 25), divide(#0, 25)",
    ];
    let second = record(
        2,
        "what were sales in 2001?",
        "31",
        "add(31, const_0)",
        json!(31.0),
    );
    for (file, answer, program, value) in [
        ("old.json", "19.4%", programs[0], 0.19355),
        ("own.json", "24.0%", programs[1], 0.24),
    ] {
        let records = json!([record(1, CHANGE, answer, program, json!(value)), second]);
        place.write(file, &records.to_string());
    }
    // A file that still has the earlier gold.
    let row = format!("Single_ZED/2001/page_1.pdf-1,qa,{CHANGE},19.4%,19.4%\n");
    let rows = format!("{row}Single_ZED/2001/page_2.pdf-1,qa,what were sales in 2001?,31,31\n");
    let header = "id,part,question,ground_truth,prediction\n";
    place.write("baseline.csv", &(header.to_owned() + &rows));
}

#[test]
fn the_gold_of_the_named_records_counts_for_files_and_runs() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    place.run("compare last baseline.csv").succeeds();
    let by_own = "compare last baseline.csv --data-path own.json --json";
    let compared = place.run(by_own);
    let json = compared.succeeds().json();
    let fe = json["rules"].as_array().unwrap().iter();
    let fe = fe
        .clone()
        .find(|rule| rule["rule"] == "financial_equivalence")
        .unwrap();
    assert_eq!((&fe["rate_a"], &fe["rate_b"]), (&json!(1.0), &json!(0.5)));
    let note = "1 gold of baseline.csv replaced by own.json: Single_ZED/2001/page_1.pdf-1 (qa) had \
                `19.4%`, and has `24.0%`";
    compared.tells(note).tells("1 gold of output/runs/");
    // The two files alone disagree, and what is advised then works.
    let text = place
        .read("baseline.csv")
        .replace("19.4%,19.4%", "24.0%,24.0%");
    place.write("new.csv", &text);
    place
        .run("compare baseline.csv new.csv")
        .fails(3, &["pass --data-path FILE"]);
    place
        .run("compare baseline.csv new.csv --data-path own.json")
        .succeeds();
    let scored = place.run("score baseline.csv --data-path own.json --json");
    assert_eq!(scored.succeeds().json()["exact_match_hits"], 1);
    // Another question under the same id is not a corrected gold.
    place.write(
        "other.csv",
        &place.read("baseline.csv").replace(CHANGE, "what else?"),
    );
    let other = place.run("score other.csv --data-path own.json");
    other.fails(3, &["has the gold `19.4%` here and `24.0%` in own.json"]);
    let text = place.read("own.json").replace(CHANGE, "what else?");
    place.write("other.json", &text);
    place
        .run("score last --data-path other.json")
        .fails(3, &["is another question there"]);
}

/// The rows of a table of the only run's journal, as text.
fn table(place: &Workplace, name: &str) -> Vec<(i64, String)> {
    let journal = place.journal_tables();
    let sql = format!("SELECT question, json FROM {name} ORDER BY 1, 2");
    let mut rows = journal.prepare(&sql).unwrap();
    let rows = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_run_is_scored_by_a_corrected_gold_without_a_call() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    let (answers, calls) = (table(&place, "answers"), table(&place, "calls"));
    let truths = |file: &str| -> Vec<String> {
        let rows = place.rows(file);
        rows.iter().map(|row| row["ground_truth"].clone()).collect()
    };
    let csv = format!(
        "output/runs/{}/output.csv",
        place.summary()["run"]["id"].as_str().unwrap()
    );
    assert_eq!(truths(&csv), ["19.4%", "31"]);
    let save = place.run("score last --data-path own.json --save");
    assert!(
        save.succeeds()
            .unwrapped()
            .contains("is scored by the gold of own.json")
    );
    // Rows, summary and report are new; the journal has the earlier ones too.
    for file in [&csv, "output/output.csv"] {
        assert_eq!(truths(file), ["24.0%", "31"], "{file}");
    }
    let summary = place.summary();
    assert_eq!(summary["financial_equivalence_hits"], 2);
    assert_eq!(summary["run"]["gold"]["data"], "own.json");
    let hash = blake3::hash(place.read("own.json").as_bytes()).to_hex();
    assert_eq!(summary["run"]["gold"]["hash"], hash.as_str());
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(report.contains("scored by the gold of own.json since "));
    assert_eq!(
        (table(&place, "answers"), table(&place, "calls")),
        (answers, calls)
    );
    assert_eq!(table(&place, "golds").len(), 2);
    // It counts from now on, wherever the run is read.
    let hits = |line: &str| place.run(line).succeeds().json()["financial_equivalence_hits"].clone();
    assert_eq!(hits("score last --json"), 2);
    place
        .run("analyze last")
        .succeeds()
        .prints("0 misses of 2 questions");
    place.run("report last").succeeds();
    assert_eq!(place.summary(), summary);
    place
        .run("--data-path own.json --only wrong:last")
        .fails(2, &["no such question"]);
    // The earlier gold can be put back.
    place
        .run("score last --data-path old.json --save --json")
        .succeeds();
    assert_eq!(
        (hits("score last --json"), truths(&csv)),
        (json!(1), vec!["19.4%".into(), "31".into()])
    );
}

#[test]
fn a_run_whose_gold_file_is_gone_keeps_its_gold_and_has_the_pages_of_its_data() {
    let place = Workplace::new();
    corrected(&place);
    let [old, own] = ["old.json", "own.json"].map(|file| place.read(file));
    // The other split has other pages of the same ids.
    let both = format!("{{\"train\": {old}, \"dev\": {own}}}");
    place.write("both.json", &both);
    place.write("data.json", &both);
    place.run("--data-path data.json --split train").succeeds();
    assert_eq!(place.summary()["financial_equivalence_hits"], 1);
    let save = "score last --data-path both.json --split dev --save";
    place.run(save).succeeds();
    let gold = place.summary()["run"]["gold"].clone();
    assert_eq!(
        (&gold["data"], &gold["split"]),
        (&json!("both.json"), &json!("dev"))
    );
    let hits = |words: &[&str]| {
        let scored = place.run("score last --json");
        let notes = scored.stderr.lines().filter(|it| it.starts_with("note: "));
        assert_eq!(notes.count(), words.len().min(1), "{}", scored.stderr);
        for words in words {
            scored.tells(words);
        }
        scored.succeeds().json()["financial_equivalence_hits"].clone()
    };
    assert_eq!(hits(&[]), 2);
    let gone = "both.json: the run's gold file no longer exists";
    let counts = "the golds that were saved from it count";
    std::fs::remove_file(place.path("both.json")).unwrap();
    assert_eq!(hits(&[gone, counts]), 2);
    let analyzed = place.run("analyze last");
    analyzed.succeeds().prints("0 misses of 2 questions");
    analyzed.tells(gone);
    place.run("report last").succeeds().tells(gone);
    assert_eq!(place.summary()["financial_equivalence_hits"], 2);
    let report = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(!report.contains("no longer exists"), "it has pages");
    place.write("both.json", &format!("{both}\n"));
    assert_eq!(
        hits(&["both.json has changed since its golds were saved", counts]),
        2
    );
    std::fs::remove_file(place.path("data.json")).unwrap();
    let missing = "data.json: the run's data file no longer exists; pass --data-path FILE";
    assert_eq!(hits(&["both.json has changed", missing]), 2);
}

#[test]
fn a_save_that_is_cut_off_leaves_the_new_gold_and_says_that_files_are_missing() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    let report = place.run_folder().join("report.html");
    std::fs::remove_file(&report).unwrap();
    std::fs::create_dir(&report).unwrap();
    place.run("score last --data-path own.json --save").ends(2);
    std::fs::remove_dir(&report).unwrap();
    std::fs::write(&report, "").unwrap();
    // No old copy is left of which the run's CSV is not one.
    let last = "output/output.csv";
    let truth = || place.rows(last)[0]["ground_truth"].clone();
    assert_eq!(truth(), "24.0%");
    let status = || place.run("runs --json").json()[0]["status"].clone();
    assert_eq!(status(), "unwritten");
    let json = place.run("score last --json").json();
    assert_eq!(json["financial_equivalence_hits"], 2);
    place.run("report last").succeeds();
    assert_eq!(
        (status(), place.summary()["run"]["gold"]["data"].clone()),
        (json!("finished"), json!("own.json"))
    );
    // After a kill before any file was written, `report` renews both CSVs.
    let own = place.run_folder().join("output.csv");
    let earlier = place.read(last).replace("24.0%", "19.4%");
    for file in [own.clone(), place.path(last)] {
        std::fs::write(file, &earlier).unwrap();
    }
    place.run("report last").succeeds();
    assert_eq!(truth(), "24.0%");
    // The CSV of another run, or of a user, is not replaced.
    place.write(last, &earlier);
    place.run("report last").succeeds();
    assert_eq!(truth(), "19.4%");
}

/// The gold that the run was started with was scored as that of the named file.
#[test]
fn a_gold_that_the_named_file_lacks_is_missing() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    let mut records: Vec<Json> = serde_json::from_str(&place.read("own.json")).unwrap();
    let question = records[1]["qa"]["question"].clone();
    records[1]["qa"] = json!({"question": question});
    place.write("part.json", &json!(records).to_string());
    for more in ["", " --save"] {
        let line = format!("score last --data-path part.json{more}");
        let told = "note: 1 of 2 has no gold in part.json, such as Single_ZED/2001/page_2.pdf-1";
        place
            .run(&line)
            .succeeds()
            .tells(told)
            .prints("1 of 2 has a gold");
        place
            .run(&format!("{line} --fail-under fe=0"))
            .fails(6, &["could score 1 of 2 questions"]);
    }
    assert_eq!(place.run("score last --json").json()["without_gold"], 1);
    assert_eq!(place.summary()["without_gold"], 1);
    // A file's own gold is used, and said to be.
    let scored = place.run("score baseline.csv --data-path part.json");
    scored.succeeds().tells("1 of 2 has no gold in part.json");
    scored.tells("the file's own gold is used");
    // Nothing is saved from a file without a gold.
    records[0]["qa"] = json!({"question": CHANGE});
    place.write("none.json", &json!(records).to_string());
    place.run("score last --data-path none.json --save").fails(
        2,
        &["--save: none.json has no gold for any question of run "],
    );
    assert_eq!(place.summary()["without_gold"], 1);
}

/// The answers to other pages were scored without a word.
#[test]
fn a_save_names_pages_that_the_run_was_not_asked_about() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    let save = |file: &str| place.run(&format!("score last --data-path {file} --save"));
    let told = "the pages of 1 record in other.json are not those that the run was asked about";
    for (was, now) in [
        ("sheet 2", "sheet two"),
        (r#"["sales","31","25"]"#, r#"["sales","31","26"]"#),
    ] {
        let text = place.read("own.json").replacen(was, now, 1);
        assert_ne!(text, place.read("own.json"));
        place.write("other.json", &text);
        save("other.json").succeeds().tells(told);
        assert!(
            !save("old.json")
                .succeeds()
                .stderr
                .contains("not those that")
        );
    }
    // A file that has replaced the run's own cannot be compared with it.
    place.write("old.json", &place.read("own.json"));
    save("old.json")
        .succeeds()
        .tells("whether old.json has the same pages is not known");
}

#[test]
fn a_gold_is_saved_for_complete_runs_only() {
    let place = Workplace::new();
    corrected(&place);
    place.run("--data-path old.json").succeeds();
    let of_file = place.run("score baseline.csv --data-path own.json --save");
    of_file.fails(2, &["--save is for runs"]);
    place.run("score last --save").ends(2).tells("--data-path");
    let sql = "DELETE FROM answers WHERE question > 0";
    place.journal_tables().execute(sql, []).unwrap();
    let left = place.run("score last --data-path own.json --save");
    left.fails(2, &["has questions left; convfinqa --resume "]);
}

#[test]
fn a_gold_that_its_own_program_contradicts_is_suspect() {
    let place = Workplace::new();
    let program = "subtract(31, 25), divide(#0, 25)";
    let yes = "greater(31, 25)";
    // Printed gold, program, recorded value and answer; what is found.
    let cases = [
        ("25%", program, json!(0.24), "24%", Some("24%")),
        // The recorded value was corrected with the printed one, the program was not.
        ("25%", program, json!(0.25), "24%", Some("24%")),
        ("124%", program, json!(0.24), "24%", Some("24%")),
        ("no", yes, json!("no"), "yes", Some("yes")),
        // Something else is wrong with these answers; the gold is named all the same.
        ("25%", program, json!(0.24), "-25%", None),
        ("25%", program, json!(0.24), "31", None),
    ];
    let records = cases
        .iter()
        .enumerate()
        .map(|(at, (gold, program, value, ..))| record(at, CHANGE, gold, program, value.clone()));
    place.write("own.json", &json!(records.collect::<Vec<_>>()).to_string());
    let rows = cases
        .iter()
        .enumerate()
        .map(|(at, (.., answer, _))| format!("Single_ZED/2001/page_{at}.pdf-1,qa,{answer}\n"));
    place.write(
        "a.csv",
        &format!("id,part,prediction\n{}", rows.collect::<String>()),
    );
    let json = place
        .run("analyze a.csv --data-path own.json --json")
        .succeeds()
        .json();
    let misses = json["misses"].as_array().unwrap();
    assert_eq!(misses.len(), cases.len());
    for (miss, (gold, .., answer, found)) in misses.iter().zip(&cases) {
        assert_eq!(
            miss["suspect"], "own_program",
            "{gold} and {answer}: {miss}"
        );
        let mut named = vec![miss.clone()];
        named.extend(miss["also"].as_array().unwrap().clone());
        let suspect = named
            .iter()
            .position(|cause| cause["cause"] == "suspect_gold");
        let detail = &named[suspect.unwrap()]["detail"];
        assert!(
            detail
                .as_str()
                .unwrap()
                .starts_with("gold's own program gives "),
            "{miss}"
        );
        assert_eq!(
            suspect == Some(0),
            found.is_some(),
            "{gold} and {answer}: {miss}"
        );
    }
    // Rounding, a cut or a percent sign is no contradiction.
    let sound = [("24.0%", 0.24), ("0.2", 0.24), ("24", 0.24)];
    let records = sound
        .iter()
        .enumerate()
        .map(|(at, (gold, value))| record(at, CHANGE, gold, program, json!(value)));
    place.write("own.json", &json!(records.collect::<Vec<_>>()).to_string());
    let rows = (0..3).map(|at| format!("Single_ZED/2001/page_{at}.pdf-1,qa,77\n"));
    place.write(
        "a.csv",
        &format!("id,part,prediction\n{}", rows.collect::<String>()),
    );
    let json = place
        .run("analyze a.csv --data-path own.json --json")
        .succeeds()
        .json();
    for miss in json["misses"].as_array().unwrap() {
        assert_eq!(miss["suspect"], Json::Null, "{miss}");
    }
}
