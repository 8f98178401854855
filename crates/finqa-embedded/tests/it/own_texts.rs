//! Questions for the texts of a table. `own_questions` asks them.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

/// Each table with its questions.
#[rustfmt::skip] // Tables: rustfmt would indent their lines.
pub(crate) const TEXTS: &[Questions] = &[
    ("Article;Kind;Pieces;Worth;Maker;Supplier
Skiff;Boats;3;600;Fenn;Orla Trade
Canoe;Boats;5;400;Brack;Hallam
Blue canoe;Boats;2;90;Brack;Orla Trade
Paddle;Gear;20;180;Fenn;
Boats;Sundries;1;5;Fenn;Hallam
Anchor;Gear;4;80;Brack;tbc
Hallam;Gear;4;70;Brack;Fenn
Total;;39;1425;;", &[
        ("Who supplies the skiff?", Is("Orla Trade")),
        ("who is the supplier of the canoe", Is("Hallam")),
        ("Which supplier delivers the canoe?", Is("Hallam")),
        ("What kind is the paddle?", Is("Gear")),
        ("What is the maker of the blue canoe?", Is("Brack")),
        ("supplier of the skiff", Is("Orla Trade")),
        // No such row or column, another verb, several rows, an empty cell, more words.
        ("Who supplies the kayak?", Unsure("")),
        ("Who owns the skiff?", Unsure("")),
        ("Who is the skiff?", Unsure("")),
        ("Who made the skiff?", Unsure("")),
        ("Who is supplied by Hallam?", Unsure("")),
        ("Who does Hallam supply?", Unsure("")),
        ("Who supplies boats?", Unsure("")),
        ("Who supplies the paddle?", Unsure("")),
        ("Who supplies the anchor?", Unsure("")),
        ("Who supplies the blue one?", Unsure("")),
        ("Who supplies the skiff and the canoe?", Unsure("")),
        ("Who no longer supplies the skiff?", Unsure("")),
        ("Who supplied the skiff in 2031?", Unsure("")),
        ("Who supplies the total?", Unsure("")),
        ("Who supplies?", Unsure("")),
        ("How many suppliers has the skiff?", Unsure("")),
        ("Who else supplies the skiff?", Unsure("")),
        ("Does Orla Trade supply the skiff?", Unsure("")),
        ("Was the supplier of the skiff paid?", Unsure("")),
        ("Which supplier has the highest worth?", Unsure("")),
        ("Which maker and supplier has the skiff?", Unsure("")),
        ("Which article does Hallam supply?", Unsure("")),
        ("When is the skiff?", Unsure("")),
        ("What is the worth of the skiff?", Is("600")),
    ]),
    ("Job;Lead;Start;Due date;Cost
Audit;Ann Moss;2031-02-03;2031-03-31;50
Survey;Bo Carr;2031-04-01;2031-06-15;70
Second survey;Cy Dunn;2031-05-01;2031-07-15;80", &[
        ("Who leads the audit?", Is("Ann Moss")),
        ("Who is responsible for the audit?", Is("Ann Moss")),
        ("Whose is the audit?", Is("Ann Moss")),
        ("When is the audit due?", Is("2031-03-31")),
        ("What is the due date of the audit?", Is("2031-03-31")),
        ("When does the audit start?", Unsure("")),
        ("When is the audit?", Unsure("")),
        ("When is the audit paid?", Unsure("")),
        ("When is the survey due?", Is("2031-06-15")),
        ("When is the second due?", Unsure("")),
        ("When is the audit not due?", Unsure("")),
        ("Who leads the audit since 2031?", Unsure("")),
    ]),
    ("Job;Cost;Lead
Survey;50;Ann Moss
Survey;70;Bo Carr", &[
        ("Who leads the survey?", Unsure("")),
    ]),
    ("Team;Manager;Owner;Cost
R&D;Ann Moss;Bo Carr;50
IT;Bo Carr;Bo Carr;70", &[
        ("Who runs R&D?", Is("Ann Moss")),
        ("Who is responsible for R&D?", Unsure("")),
        ("Whose is R&D?", Unsure("")),
    ]),
    ("Region;Store;Manager;Sales
North;Quay;Ann Moss;50
North;Dock;Bo Carr;70
South;Quay;Cy Dunn;60", &[
        ("Who manages Dock?", Is("Bo Carr")),
        ("Who manages Quay in the North?", Is("Ann Moss")),
        ("Who manages Quay?", Unsure("")),
        ("Who manages North?", Unsure("")),
    ]),
    // A column of figures has no text that answers, and a day is of what its heading says.
    ("Store;Sales;Invoice date
Quay;see note;2031-02-03
Dock;70;2031-02-05", &[
        ("What are the sales of Quay?", Unsure("")),
        ("When is Quay?", Unsure("")),
        ("What is the invoice date of Quay?", Is("2031-02-03")),
    ]),
    ("Event;Date;Cost
Fair;5 May 2031;20
Regatta;June 2031;30", &[
        ("When is the fair?", Unsure("")),
    ]),
    ("Event;Date;Cost
Fair;05/05/2031;20
Regatta;07/06/2031;30", &[
        ("When is the fair?", Is("05/05/2031")),
        ("When was the boat race?", Unsure("")),
        ("Whose is the fair?", Unsure("")),
    ]),
];
