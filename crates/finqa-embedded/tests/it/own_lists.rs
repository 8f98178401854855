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
    ("Item;2031;2032;2033
Stores;120;137;142
Revenue;410;455;470", &[
        ("how many stores were opened in 2033?", Unsure("")),
    ]),
    ("Division;Currency;Revenue (local);Revenue (EUR);Headcount
Borea;USD;140;128.8;640
Cestra;CHF;33;34.7;140
Group;;;340.9;1700", &[
        ("what share of group revenue comes from Borea?", Is("37.8%")),
    ]),
    ("Product line;2033;2032
Flow;186;164
Pressure;97;103
Total net sales;283;267", &[
        ("what were net sales of flow in 2032?", Is("164")),
        ("what were net sales of pressure in 2033?", Is("97")),
        ("what were total net sales in 2032?", Is("267")),
        ("how much did net sales of flow rise in 2033?", Is("22")),
    ]),
    ("Product;Unit price;Units sold 2032;Units sold 2033
Rake;15;100;110
Hose;24;200;210", &[
        ("what was the revenue of the rake in 2033?", Unsure("")),
    ]),
    ("Division;Revenue
Borea;128
Cestra;35
Dorne;61
Group;224", &[
        ("which division has the highest revenue?", Is("Borea")),
    ]),
    ("Division;Sales;Staff
Borea;140;
Group;;1700", &[
        ("what share of the group comes from Borea?", Unsure("")),
    ]),
    ("Product;Units sold 2032;Units sold 2033
Rake;100;110
Hose;200;210", &[
        ("what was the turnover of the hose in 2033?", Unsure("")),
    ]),
    ("Division;Revenue
Borea;128
Cestra;35
Dorne;163", &[
        ("which division has the highest revenue?", Is("Dorne")),
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
    ("Stock;Units;Price;Cost;Value;Gain/loss
Alder;10;50;400;500;100
Birch;20;30;900;600;-300
Cedar;5;90;470;450;-20", &[
        ("How much is Alder in all?", Unsure("")),
    ]),
    ("Team;2031;2032
North;40;44
South;30;36
West;20;15
Total;90;95
of which: apprentices;120;130
Cost of pay ($ million);150;160", &[
        ("Which team was the biggest in 2032?", Is("North")),
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
    ("Order no.;Date;Buyer;Net amount;Items;State
2031-01;2031-01-08;Acme;100;3;sent
2031-02;2031-01-20;Birch;400;5;late
2031-03;2031-02-11;Acme;250;2;late
2031-04;2031-02-12;Cedar;700;9;sent
2031-05;2031-12-31;Acme;50;1;sent", &[
        ("What was the total net amount in 2031?", Is("1500")),
        ("How many orders have a net amount of at least 100 or more than 5 items?", Unsure("")),
        ("How many orders were shipped by air?", Unsure("")),
    ]),
    ("Team;Budget;Actual
Garage;100;130
Kitchen;200;190
Office;300;360
Total;600;680", &[
        ("Which team is most over budget?", Unsure("over")),
    ]),
    ("Code;Part;Unit price;Quantity;Weight kg;Rebate
P1;Shelf;10;4;3;0%
P2;Bracket;20;2;5;10%
P3;Handle;30;6;1;0%", &[
        ("What was the unit price of the handle last year?", Unsure("")),
        ("What is the total weight of the shelves?", Unsure("")),
    ]),
    ("Loan;Balance;Years
North;1.5 million;4
South;870 thousand;5
West;2.1 million;7", &[
        ("How many loans have a balance above 2?", Unsure("")),
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
        ("What was revenue in 2032?", Unsure("not be what is meant")),
    ]),
    ("Month;New members;Members at month end;Fees
Jan 2031;10;100;5000
Feb 2031;12;112;5600
Mar 2031;14;126;6300", &[
        ("What were fees per member in March 2031?", Unsure("")),
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
    ("Product;Units sold;Average price;Returns (units)
Lamps;140;25.5;7
Chairs;60;80;4", &[
        ("What is the cost of producing a lamp?", Unsure("")),
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
    ("Mitarbeitende;31.12.2031;31.12.2032
Nord;1000;1050
West;200;240
Gesamt;1200;1290", &[
        ("Which office grew the most?", Unsure("")),
    ]),
    (";2031;2032;2033
Net sales;500;600;700
Cost of goods sold;300;350;420
Stores open at end of year;19;20;23
Operating margin;9.4;10.1;8.7", &[
        ("What was the operating profit in 2032 (operating margin times net sales)?", Unsure("")),
        ("What was the total of stores in 2031 and 2032?", Unsure("")),
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
    (";Q1 2031;Q2 2031;Q3 2031;Q4 2031;Q1 2032
Sales;100;120;90;150;110
Net income;8;(12);5;9;7", &[
        ("what was the average quarterly net income in 2031?", Unsure("")),
        ("was net income negative in Q2 2031?", Unsure("a sign")),
    ]),
    (";2031;2032
Net income;22;30
Income tax expense;6;8
Net sales;100;120
Discounts;9;12
Refunds;5;6", &[
        ("What were net sales net of refunds in 2032?", Unsure("")),
    ]),
    ("Region;Units;Price;Exports;Imports
North;10;4;10;4
South;20;5;20;5
Total;30;9;30;9", &[
        ("What is units times price for the North?", Unsure("")),
        ("What is North units times price?", Unsure("")),
        ("What are exports net of imports for the North?", Unsure("")),
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
    ("Sales by region;2031;2030
North;50;25
South;50;25
West;20;20", &[
        ("which region had the highest sales in 2031?", Unsure("North and South")),
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
    (";2031;2030\nMargin;10;9\nMargin;5%;4%\nSales;200;225", &[
        ("what was the growth in margin from 2030 to 2031?", Unsure("")),
    ]),
    ("Sales;10;20\nCosts;5;6\nProfit;5;14", &[
        ("what is the profit?", Unsure("")),
    ]),
    ("Yard;Boats;Repairs 2031;Repairs 2032;Staff cost 2032
Alfa;40;210;230;900
Bravo;50;310;330;950", &[
        ("What were the staff costs of Alfa in 2032?", Is("900")),
        ("What were the staff costs of Alfa in 2031?", Unsure("")),
        ("How many staff did Alfa have in 2031?", Unsure("")),
        ("What was the change in staff costs of Alfa from 2031 to 2032?", Unsure("")),
    ]),
    ("Service;2031 Actual;2032 Budget;2032 Actual;2033 Budget
Roads;100;110;115;120
Parks;50;55;52;60", &[
        ("2033 actual for Parks?", Unsure("")),
        ("What did Parks actually cost in 2033?", Unsure("")),
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
    (";2031;2032\nRevenue;300;400\nProfit before tax;30;40", &[
        ("How many times revenue was profit before tax in 2032?", Unsure("")),
    ]),
    (";2031;2032\nCost of sales;300;350\nSelling costs;(50);(60)", &[
        ("What were total costs in 2032?", Unsure("")),
        ("What was the total of selling costs and cost of sales in 2032?", Unsure("")),
    ]),
    (";Jan 2031;Feb 2031\nStock;10;20", &[
        ("What was the stock on 14 January 2031?", Unsure("")),
    ]),
    (";31 March 2031;31 March 2032\nDeposits;500;550", &[
        ("What were deposits on 30 March 2032?", Unsure("")),
    ]),
    (";31 Dec 2031;31 Dec 2032\nDeposits;500;550", &[
        ("What were deposits on 30 December 2032?", Unsure("no 30 December of 2032")),
    ]),
    ("Day;Visitors\n1 Jan 2031;11\n2 Jan 2031;12\n3 Jan 2031;13", &[
        ("How many visitors were there on 2 January 2031?", Is("12")),
    ]),
    (";2031;2032\nMarketing;5;6\nCost of sales;50;60", &[
        ("What was the marketing cost in 2031?", Unsure("marketing")),
    ]),
];
