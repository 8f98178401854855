//! Questions about a user's list: counts of its rows, sums over its days, its ids; and words that
//! no operation reads.

use rstest::rstest;

use crate::own_tables::{named, sure};

const ORDERS: &str = "Order no.;Date;Buyer;Net amount;Items;State
2031-01;2031-01-08;Acme;100;3;sent
2031-02;2031-01-20;Birch;400;5;late
2031-03;2031-02-11;Acme;250;2;late
2031-04;2031-02-12;Cedar;700;9;sent
2031-05;2031-12-31;Acme;50;1;sent";

const PLAN: &str = "Team;Budget;Actual
Garage;100;130
Kitchen;200;190
Office;300;360
Total;600;680";

const PARTS: &str = "Code;Part;Unit price;Quantity;Weight kg;Rebate
P1;Shelf;10;4;3;0%
P2;Bracket;20;2;5;10%
P3;Handle;30;6;1;0%";

const LOANS: &str = "Loan;Balance;Years
North;1.5 million;4
South;870 thousand;5
West;2.1 million;7";

const FLOWS: &str = ";2031;2032
Operating activities;;
Profit;60;70
Net cash from operating activities;60;70
Financing activities;;
Loans;20;30
Net increase in cash;80;100
Proceeds from sale of trucks;5;6";

const CLUBS: &str = "Month;New members;Members at month end;Fees
Jan 2031;10;100;5000
Feb 2031;12;112;5600
Mar 2031;14;126;6300";

#[rstest]
#[case::limit_of_any_scale(LOANS, "How many loans have a balance above 2?")]
#[case::two_limits(
    ORDERS,
    "How many orders have a net amount of at least 100 or more than 5 items?"
)]
#[case::unknown(ORDERS, "How many orders were shipped by air?")]
fn a_count_that_is_not_understood_is_a_guess(#[case] table: &str, #[case] question: &str) {
    named(table, question, "");
}

#[rstest]
#[case::year("What was the total net amount in 2031?", "1500")]
fn days_of_a_list_add_up(#[case] question: &str, #[case] value: &str) {
    sure(ORDERS, question, value);
}

#[rstest]
#[case::over(PLAN, "Which team is most over budget?", "over")]
#[case::relative_time(PARTS, "What was the unit price of the handle last year?", "")]
#[case::words_of_the_section(
    FLOWS,
    "What was net cash from financing activities in 2032?",
    "not be what is meant"
)]
#[case::synonym_in_a_longer_name(FLOWS, "What was revenue in 2032?", "not be what is meant")]
#[case::of_one_piece(PARTS, "What is the total weight of the shelves?", "")]
fn a_word_that_the_answer_leaves_out_is_a_doubt(
    #[case] table: &str,
    #[case] question: &str,
    #[case] why: &str,
) {
    named(table, question, why);
}

#[test]
fn a_whole_of_another_column_is_not_the_sum_of_the_part() {
    named(CLUBS, "What were fees per member in March 2031?", "");
}

#[rstest]
#[case::as_asked(
    ";2031;2032\nRent;90;60",
    "How much more rent was there in 2031 than in 2032?",
    "30"
)]
fn what_the_labels_imply_is_read(#[case] table: &str, #[case] question: &str, #[case] value: &str) {
    sure(table, question, value);
}
