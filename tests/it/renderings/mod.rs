//! One statement, rendered in many ways and asked the same questions: whatever the way, an answer
//! that is sure is the statement's.

mod formats;
mod statement;
mod ways;

use std::collections::BTreeMap;
use std::fmt::Write;

use convfinqa::Session;
use finqa_agents::pair::Answer;

use crate::support::cli::Workplace;
use crate::support::in_process::runtime;
use statement::{Question, questions};
use ways::{WAYS, Way};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    RightDoubted,
    Declined,
    WrongAndSure,
}

/// The answers to the questions, each asked by itself; none of a file that is refused.
fn answers(way: &Way, questions: &[Question]) -> Vec<Option<Answer>> {
    let place = Workplace::new();
    let path = place.path(&format!("report.{}", way.extension()));
    std::fs::write(&path, way.file()).unwrap();
    let Ok(mut session) = Session::open(&path) else {
        return vec![None; questions.len()];
    };
    let mut ask = |question: &Question| {
        session.forget();
        let asked = runtime().block_on(session.ask(question.text)).unwrap();
        asked.unwrap().solution.answer
    };
    questions.iter().map(&mut ask).collect()
}

fn judge(answer: Option<&Answer>, question: &Question, way: &Way) -> Outcome {
    let sure = answer.is_some_and(|answer| answer.doubt.is_none());
    let right = answer.is_some_and(|answer| question.is_answered_by(answer, way));
    match (right, sure) {
        (true, true) => Outcome::Right,
        (true, false) => Outcome::RightDoubted,
        (false, false) => Outcome::Declined,
        (false, true) => Outcome::WrongAndSure,
    }
}

#[test]
fn a_statement_is_understood_however_it_is_rendered() {
    let questions = questions();
    assert!(WAYS.len() >= 60 && questions.len() == 25);
    let mut sum = BTreeMap::<Outcome, usize>::new();
    let (mut table, mut faults) = (String::new(), String::new());
    for way in WAYS {
        let mut counts = BTreeMap::<Outcome, usize>::new();
        for (question, answer) in questions.iter().zip(answers(way, &questions)) {
            let outcome = judge(answer.as_ref(), question, way);
            *counts.entry(outcome).or_default() += 1;
            *sum.entry(outcome).or_default() += 1;
            let missed = way.is_plain() && question.is_direct && outcome != Outcome::Right;
            let said = answer.map(|it| (it.printed.clone(), it.plain_value(), it.doubt));
            let line = format!("{outcome:?}: {way} | {} {said:?}", question.text);
            if missed || outcome == Outcome::WrongAndSure {
                writeln!(faults, "{line}").unwrap();
            } else if outcome != Outcome::Right {
                writeln!(table, "          {line}").unwrap();
            }
        }
        let sure = counts.get(&Outcome::Right).copied().unwrap_or(0);
        if sure * 10 < questions.len() * 7 {
            writeln!(faults, "{way}: only {sure} of 25 right and sure").unwrap();
        }
        writeln!(table, "{sure:3} right and sure: {way}").unwrap();
    }
    let asked = WAYS.len() * questions.len();
    let sure = sum.get(&Outcome::Right).copied().unwrap_or(0);
    println!("{table}{sum:?} of {asked}");
    assert!(faults.is_empty(), "{faults}");
    assert!(sure * 10 >= asked * 9, "{sure} of {asked}");
}
