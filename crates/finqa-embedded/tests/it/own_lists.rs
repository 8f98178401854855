//! More tables of a user's own, for the test of `own_questions`.

use super::own_questions::Expected::{Is, Unsure};
use super::own_questions::Questions;

#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
pub(crate) const LISTS: &[Questions] = &[
    ("Ward;Beds;Guests 2033
Cedar;40;100
Birch;50;200
Maple;60;300
All wards;150;600", &[
        ("What is the average number of beds?", Is("50")),
        ("What is the total number of beds?", Is("150")),
    ]),
    ("Fund;Return 2032 %;Return 2033 %;Assets 2033
Alpha;4.5;6.5;100
Beta;3.5;7.5;200", &[
        ("What was the return of Alpha in 2033?", Is("6.5")),
    ]),
    ("Division;Currency;Revenue (local);Revenue (EUR);Headcount
Borea;USD;140;128.8;640
Cestra;CHF;33;34.7;140
Group;;;340.9;1700", &[
        ("what share of group revenue comes from Borea?", Is("37.8%")),
    ]),
    ("Code;Article;Group;List price;Unit cost;On hand;Sold 2031
LM-10;Desk lamp;Lighting;30;12;40;100
LM-11;Floor lamp;Lighting;80;50;0;20
CH-20;Oak chair;Seating;120;90;15;60
RG-30;3 m rug;Textiles;60;45;5;10", &[
        ("What is the average list price?", Is("72.5")),
    ]),
    ("Bank;Purpose;Principal;Balance 2032;Balance 2031;Interest rate
Delta;Bridge works;500;400;450;4%
Sound;Ferry;900;800;850;3%
Total;;1400;1200;1300;", &[
        ("Which bank has the highest interest rate?", Is("Delta")),
        ("Which bank has the largest balance in 2032?", Is("Sound")),
        ("What was the average balance in 2032?", Is("600")),
    ]),
    ("Team;2031;2032
North;40;44
South;30;36
West;20;15
Total;90;95
of which: apprentices;120;130
Cost of pay ($ million);150;160", &[
        ("Which team was the biggest in 2032?", Is("North")),
    ]),
    ("Month;Pay plan;Pay actual;Rent plan;Rent actual
Jan;10;11;5;5
Feb;10;9;5;6
Mar;12;14;5;7", &[
        ("What was the rent in March?", Is("7")),
    ]),
    ("Line;Region;2031;2032
Retail;East;40;60
Retail;West;;80
Trade;West;10;30", &[
        ("What was Retail West in 2031?", Unsure("west")),
    ]),
    (";2031;2032
Operating activities;;
Profit;60;70
Net cash from operating activities;60;70
Financing activities;;
Loans;20;30
Net increase in cash;80;100
Proceeds from sale of trucks;5;6", &[
        ("What was net cash from financing activities in 2032?", Unsure("not be what is meant")),
    ]),
    (";2031;2032\nRent;90;60", &[
        ("How much more rent was there in 2031 than in 2032?", Is("30")),
    ]),
    (";2032;2031
Cash;50;40
Receivables;30;25
Total current assets;120;90
Additional paid-in capital;200;180
LIABILITIES AND EQUITY;;
Total current liabilities;60;45
Total liabilities;150;130
Total equity;300;260
Total liabilities and equity;450;390", &[
        ("What was the ratio of total liabilities to equity in 2031?", Is("0.5")),
    ]),
    (";30 Jun 2031;31 Dec 2031;30 Jun 2032;31 Dec 2032
Research & Development;640;672;701;715
Sales;310;322;298;305", &[
        ("How many people worked in sales on 30 June 2032?", Is("298")),
        ("How many people were in research and development in 2032?", Is("715")),
    ]),
    (";FY 2032/33 plan;FY 2031/32;FY 2030/31
Members;152;146;139
Staff costs;(742);(701);(655)
Subscription income;900;800;700
Donations;50;60;70", &[
        ("How many members were there in 2031/32?", Is("146")),
        ("By how much did donations fall from 2030/31 to 2031/32?", Is("10")),
        ("What were staff costs as a share of total income in 2031/32?", Unsure("")),
    ]),
    (";Revenue;Operating profit
2031;900;60
2032;950;38", &[
        ("What was the operating margin in 2032?", Is("4.0%")),
    ]),
    ("; H1 2032\nRevenue;12\nCosts;9", &[
        ("What was revenue in 2032?", Unsure("")),
    ]),
    (";2032;2031
Net debt;450;(20)
Tax expense;12;(4)
Repayments of debt;(30);(25)
Net income;(12);9", &[
        ("what was net debt in 2031?", Is("-20")),
        ("what was the tax expense in 2031?", Is("-4")),
        ("what was the change in net debt from 2031 to 2032?", Is("470")),
        ("what were the repayments of debt in 2031?", Is("25")),
    ]),
    (";1 Jan 2031;2 Jan 2031;3 Jan 2031
Visitors;11;12;13", &[
        ("How many visitors were there on 2 January 2031?", Is("12")),
        ("How many visitors were there in January 2031?", Unsure("")),
    ]),
    ("Sales by region;2031;2030
North;30;15
South;30;10
West;20;10
East;60;20", &[
        ("which region had the lowest sales in 2030?", Unsure("South and West")),
        ("which region grew fastest from 2030 to 2031?", Unsure("")),
    ]),
    ("Item;2031;2030\nSales;100;90\nOther;5;4\nSales;70;60", &[
        ("what were sales in 2031?", Unsure("")),
        ("what was the growth of sales from 2030 to 2031?", Unsure("")),
    ]),
    (";2031;2030\nSales;;90\nCosts;50;\nProfit;;", &[
        ("what were sales in 2031?", Unsure("Sales has no figure of 2031")),
        ("what was the change in sales from 2030 to 2031?", Unsure("Sales has no figure of 2031")),
        ("what was profit in 2031?", Unsure("")),
    ]),
    ("Sales;10;20\nCosts;5;6\nProfit;5;14", &[
        ("what is the profit?", Unsure("")),
    ]),
    ("Course;2030/31;2031/32;2032/33
Physics;40;50;60
Biology;70;80;90", &[
        ("What was Physics in 2030/31?", Is("40")),
        ("What was Physics in fiscal 2031?", Is("40")),
        ("What was Physics in 2031?", Unsure("2031 is a part of two seasons")),
        ("What was the change in Physics from 2031 to 2032?", Unsure("2031 is a part of two seasons")),
        ("Which course was the largest in 2031?", Unsure("2031 is a part of two seasons")),
    ]),
    (";2031;2032\nCost of sales;300;350\nSelling costs;(50);(60)", &[
        ("What were total costs in 2032?", Unsure("")),
        ("What was the total of selling costs and cost of sales in 2032?", Unsure("")),
    ]),
    (";31 Dec 2031;31 Dec 2032\nDeposits;500;550", &[
        ("What were deposits on 30 December 2032?", Unsure("no 30 December of 2032")),
    ]),
];
