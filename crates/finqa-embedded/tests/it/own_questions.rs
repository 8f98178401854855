//! Questions about tables of a user's own, all invented: each is answered from the labels, or what
//! the page lacks or leaves open is named.

use super::own_groups::GROUPED;
use super::own_senses::SENSES;
use super::own_tables::{NOT_SURE, check};
use super::own_texts::TEXTS;

pub(crate) enum Expected {
    Is(&'static str),
    /// It is a guess, and the doubt says this.
    Unsure(&'static str),
}

use Expected::{Is, Unsure};

/// A table with `;` between its cells, and questions about it.
pub(crate) type Questions = (&'static str, &'static [(&'static str, Expected)]);

#[test]
fn a_question_is_answered_from_the_labels_or_its_doubt_is_named() {
    check(TABLES);
    check(NOT_SURE);
    check(GROUPED);
    check(SENSES);
    check(TEXTS);
}

#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
const TABLES: &[Questions] = &[
    ("EUR thousand;Q1 2031;Q2 2031;Q3 2031;Q4 2031;FY 2031
Net sales;400;420;390;510;1720
Cost of sales;(250);(260);(245);(300);(1055)
Gross profit;150;160;145;210;665
Order backlog;90;95;80;70;70", &[
        ("which quarter had the highest gross profit?", Is("Q4 2031")),
        ("in which quarter was the cost of sales lowest?", Is("Q3 2031")),
        ("what were net sales in the third quarter of 2031?", Is("390")),
        ("what were net sales for the full year 2031?", Is("1720")),
        ("what was the gross margin in Q2 2031?", Is("38.1%")),
        ("what was the percentage change in net sales from Q3 to Q4 2031?", Is("30.8%")),
        ("what share of full-year net sales was made in Q4?", Is("29.7%")),
    ]),
    (";2035;2034;2033;2032;2031
Turnover;88;95;91;60;74
Net earnings;5;9;7;-6;2
Grants;4;3;2;1;0
Research and development;11;10;9;8;7
Return on sales;5.7%;9.5%;7.7%;-10%;2.7%", &[
        ("in which year was turnover highest?", Is("2034")),
        ("in which year were net earnings lowest?", Is("2032")),
        ("which year had the lowest research and development?", Is("2031")),
        ("in which year was the return on sales lowest?", Is("2032")),
        ("what was the highest turnover?", Is("95")),
        ("what was the lowest return on sales?", Is("-10.0%")),
        ("what was the average research and development from 2033 to 2035?", Is("10")),
        ("what was the average turnover over the last two years?", Is("91.5")),
        ("by how much did net earnings decrease from 2034 to 2035?", Is("4")),
        ("by how many percentage points did the return on sales fall from 2034 to 2035?", Is("3.8")),
        ("what was the growth in turnover from 2032 to 2033?", Is("51.7%")),
        ("did turnover rise in 2035?", Is("no")),
        ("were net earnings higher in 2034 than in 2033?", Is("yes")),
        ("what was the ratio of research and development to turnover in 2033?", Is("0.099")),
        ("how much lower were net earnings in 2035 than in 2034?", Is("4")),
        ("in which fiscal year was turnover lowest?", Is("2032")),
        ("what was the EBITDA in 2033?", Unsure("ebitda")),
        ("what was the turnover in 2029?", Unsure("no 2029")),
    ]),
    ("Depots by country;Stock 2031;% of total;Stock 2030;% of total
Norway;600;60%;500;62.5%
Finland;300;30%;200;25%
Latvia;100;10%;100;12.5%
Total;1000;100%;800;100%", &[
        ("what share of total stock was in Latvia in 2030?", Is("12.5%")),
        ("by how many percentage points did the Norway share change from 2030 to 2031?", Is("-2.5")),
        ("what was the share of Norway in total stock in 2031?", Is("60.0%")),
        ("what was the stock in Sweden in 2031?", Unsure("sweden")),
        ("is the stock insured?", Unsure("insured")),
        ("which country had the largest stock in 2031?", Is("Norway")),
    ]),
    (";2031 North;2031 South;2030 North;2030 South
Sales;140;90;130;75
Short-term borrowings;20;30;25;35
Long-term borrowings;70;80;75;85", &[
        ("what were total sales of both regions in 2031?", Is("230")),
        ("which region had the highest sales in 2030?", Is("North")),
    ]),
    ("Rating;Balance 2031;Balance 2030;Default rate
A;120;110;0.2%
B;80;95;1.1%
C;25;20;4.5%", &[
        ("which rating has the highest default rate?", Is("C")),
    ]),
    ("Headcount at year end;2030;2031
Engineering;200;260
Sales;100;90
Support;50;55", &[
        ("what is the sum of sales and support in 2031?", Is("145")),
        ("what was the growth rate of engineering from 2030 to 2031?", Is("30.0%")),
        ("who runs engineering?", Unsure("")),
    ]),
    (";Season 2030/31;Season 2031/32
Tickets;12;18
Profit / (loss) before tax;(8);3", &[
        ("by how much did tickets increase from 2030/31 to 2031/32?", Is("6")),
    ]),
    ("Item;2022;FY2022 budget
Revenue;100;120", &[
        ("what was revenue in 2022?", Is("100")),
        ("what was revenue in fiscal 2022?", Is("100")),
        ("what was the budget revenue in 2022?", Is("120")),
    ]),
    ("quarter;revenue\nQ1 2020;10\nQ2 2020;20\nQ1 2021;30", &[
        ("what was the total revenue in 2020?", Unsure("revenue has no figure of 2020")),
    ]),
    ("Item;2029;2030;2031
Ticket revenue;2,310;2,540;2,905
Fuel costs;(812);(640);(455)
Crew costs;(390);(410);(433)
Operating profit;610;905;1,320
Passengers (thousands);4,100;4,350;4,720", &[
        ("in which year were fuel costs highest?", Is("2029")),
        ("in which year were fuel costs lowest?", Is("2031")),
        ("what was ticket revenue per passenger in 2031?", Unsure("unit")),
        ("what were catering costs in 2030?", Unsure("catering")),
        ("what will fuel costs be in 2032?", Unsure("the page has no 2032")),
        ("what were the crew costs in 2030?", Is("410")),
        ("what was the change in ticket revenue from 2029 to 2031?", Is("595")),
        ("by how much did fuel costs fall from 2029 to 2031?", Is("357")),
        ("by what percentage did fuel costs fall from 2030 to 2031?", Is("28.9%")),
        ("did crew costs rise from 2029 to 2030?", Is("yes")),
        ("were fuel costs higher than crew costs in 2031?", Is("yes")),
        ("what was the sum of fuel costs and crew costs in 2030?", Is("1050")),
        ("what was the average ticket revenue from 2029 to 2031?", Is("2585")),
        ("what was the average ticket revenue in 2029 and 2030?", Is("2425")),
        ("what was the average of fuel costs and crew costs from 2029 to 2031?", Unsure("")),
        ("what were fuel costs as a percentage of ticket revenue in 2031?", Is("15.7%")),
        ("what was the total ticket revenue over the last two years?", Unsure("")),
        ("how many passengers were there in 2029?", Is("4100")),
        ("what was the highest operating profit?", Is("1320")),
    ]),
    ("Year;Revenue;Fuel costs;Net result
2029;2310;(812);(40)
2030;2540;(640);55
2031;2905;(455);(12)", &[
        ("in which year were fuel costs highest?", Is("2029")),
        ("which year had the lowest fuel costs?", Is("2031")),
        ("when was the net result lowest?", Is("2029")),
        ("what was the net result in 2031?", Is("-12")),
        ("what was the change in the net result from 2030 to 2031?", Is("-67")),
        ("was the net result higher in 2030 than in 2031?", Is("yes")),
        ("what was revenue growth from 2029 to 2030?", Is("10.0%")),
        ("what was the average revenue?", Is("2585")),
        ("what was the difference between revenue and fuel costs in 2030?", Is("1900")),
        ("what were total fuel costs from 2029 to 2031?", Is("1907")),
    ]),
    ("Year;Amount due
2021;51.2
2022;43.7", &[
        ("was more due in 2021 than in 2022?", Is("yes")),
        ("was less due in 2021 than in 2022?", Is("no")),
        ("how much more was due in 2021 than in 2022?", Is("7.5")),
    ]),
    (";2021;2022
Principal due;51.2;43.7
Interest due;4.0;3.1", &[
        ("was more principal due in 2021 than in 2022?", Is("yes")),
        ("was less interest due in 2021 than in 2022?", Is("no")),
        ("was more due in 2021 than in 2022?", Unsure("Interest due")),
    ]),
    ("Region;Sales 2032;Sales 2033;Staff 2033
North;120;150;31
South;80;72;22
Overseas;45;61;9
Total;245;283;62", &[
        ("what were sales in the South in 2033?", Is("72")),
        ("what was the total of sales in 2033?", Is("283")),
        ("what share of total sales came from Overseas in 2033?", Is("21.6%")),
        ("what was the share of North in total sales in 2032?", Is("49.0%")),
        ("which region had the highest sales in 2032?", Is("North")),
        ("which region had the smallest staff in 2033?", Is("Overseas")),
        ("what was the percentage change in sales of the North from 2032 to 2033?", Is("25.0%")),
        ("what were the sales of North and Overseas together in 2032?", Is("165")),
        ("what was the difference between sales of North and South in 2033?", Is("78")),
        ("what was the average of sales in 2033?", Is("94.333")),
        ("what was the ratio of sales to staff in the North in 2033?", Is("4.839")),
        ("did sales of the South fall from 2032 to 2033?", Is("yes")),
        ("which country had the highest sales in 2033?", Unsure("country")),
        ("what were sales in the East in 2033?", Unsure("east")),
        ("what were the sales excluding North in 2033?", Unsure("excluding")),
        ("what were sales in the North and in the South in 2033?", Unsure("")),
        ("what were staff costs in the North in 2033?", Unsure("costs")),
        ("what were sales of the North in 2031?", Unsure("no 2031")),
    ]),
    ("EUR thousand;Q1 2032;Q2 2032;Q3 2032;Q4 2032
Online sales;210;240;180;350
Store sales;400;390;420;410
Marketing;-30;-45;-28;-60
EBIT;41;39;12;77", &[
        ("in which quarter was marketing highest?", Is("Q4 2032")),
        ("what were store sales in the second quarter of 2032?", Is("390")),
        ("what was EBIT as a percentage of store sales in Q4 2032?", Is("18.8%")),
        ("what is the sum of online sales, store sales and EBIT in Q1 2032?", Is("651")),
        ("what was the percentage growth in EBIT from Q3 to Q4 2032?", Is("541.7%")),
        ("were online sales higher in Q4 than in Q1 2032?", Is("yes")),
        ("in which quarter were online sales lowest?", Is("Q3 2032")),
        ("what was the average EBIT over the four quarters?", Is("42.25")),
        ("what was the average EBIT over the five quarters?", Unsure("five")),
        ("what were total sales in Q1 2032?", Unsure("")),
        ("what was EBIT?", Unsure("names no period")),
    ]),
    ("Product;Revenue ($m);Cost ($k);Units
Lamp;3.2;1,900;1200
Chair;1.1;600;400
Desk;0.9;700;150", &[
        ("what is the ratio of cost to revenue for the chair?", Unsure("different units")),
        ("which product has the highest cost?", Is("Lamp")),
        ("which product has the fewest units?", Is("Desk")),
        ("what is the total units of lamp and desk?", Unsure("")),
        ("what is the total of lamp units and desk units?", Is("1350")),
    ]),
    ("(in millions);2031;2032;2033
Revenue;800;1000;1200
Gross profit;320;430;540
Operating income;120;160;216
Net income;80;100;132
Dividends paid;20;25;33
Total debt;300;260;240
Shareholders' equity;500;520;600
Current assets;260;300;345
Current liabilities;130;150;150
Employees;2000;2500;2400
Diluted shares;40;40;44", &[
        ("what was the gross margin in 2033?", Is("45.0%")),
        ("what was the operating margin in 2032?", Is("16.0%")),
        ("what was the net margin in 2031?", Is("10.0%")),
        ("what was revenue per employee in 2033?", Is("0.5")),
        ("what is the ratio of employees to revenue in 2033?", Unsure("different units")),
        ("in which year was the gross margin highest?", Is("2033")),
        ("did the net margin improve in 2033?", Is("yes")),
        ("by how many percentage points did the gross margin change from 2031 to 2032?", Is("3.0%")),
        ("what was the average operating margin over 2031 to 2033?", Is("16.3%")),
        ("what was the percentage change in revenue from 2033 to 2031?", Unsure("")),
        ("what was the return on assets in 2033?", Unsure("")),
        ("what was EBITDA in 2033?", Unsure("")),
    ]),
    ("Store;Revenue 2031;Revenue 2032;Contribution 2031;Contribution 2032
Harbour;100;200;40;50
Station;300;400;60;80", &[
        ("what was the contribution margin of Harbour in 2032?", Is("25.0%")),
    ]),
    ("Line;Actual;Budget;Variance;Variance %
Revenue;940;1000;-60;-6.0%
Gross profit;376;420;-44;-10.5%
Marketing;64;80;16;20.0%", &[
        ("what was the variance on marketing?", Is("16")),
        ("what was the percentage variance of gross profit?", Is("-10.5%")),
        ("what was the actual gross margin?", Is("40.0%")),
        ("what was the budgeted gross margin?", Is("42.0%")),
    ]),
    (";FY98;FY99;FY00\nRevenue;40;50;70", &[
        ("what was revenue in 1998?", Is("40")),
        ("what was revenue in fiscal 1999?", Is("50")),
    ]),
    ("Region;Revenue 2031
North Harbour;420
South;310
East;150", &[
        ("What was total revenue in 2031?", Is("880")),
        ("What share of total revenue in 2031 came from East?", Is("17.0%")),
    ]),
    ("Instrument;Principal
Term loan A;50
Term loan B;30
Revolver;12.5
Bond;100", &[
        ("What is the total principal?", Is("192.5")),
        ("What percentage of total principal is the Bond?", Is("51.9%")),
    ]),
    (";2031
Software revenue;10
Professional services revenue;20
Costs;5", &[
        ("What was total revenue in 2031?", Unsure("may not be what is meant")),
    ]),
    (";2031;2030
Operating cash flow;1.35;1.2
Capex;(0.6);(0.5)
Gross profit;9;8
SG&A;(4);(3)
Translation differences;(2);(1)", &[
        ("What was operating cash flow minus capex in 2031?", Is("0.75")),
        ("What was gross profit minus SG&A in 2030?", Is("5")),
        ("What was gross profit minus translation differences in 2031?", Unsure("below zero")),
    ]),
    (";Jan-31;Feb-31;Mar-31;Apr-31;May-31
Revenue;10;20;40;80;160", &[
        ("What was the total revenue from Jan-31 to Mar-31?", Is("70")),
        ("What was total revenue from January to March?", Is("70")),
        ("What was total revenue from January to March 2031?", Is("70")),
        ("What was revenue in May 2031?", Is("160")),
    ]),
    ("Item;2031
Cash;1.5 million
Trade receivables;870 thousand
Stock;2.1 million", &[
        ("What was the sum of cash and trade receivables in 2031?", Unsure("different units")),
        ("What was the difference between cash and trade receivables in 2031?", Unsure("different units")),
        ("What was the ratio of cash to trade receivables in 2031?", Unsure("different units")),
        ("Which item was the largest in 2031?", Unsure("different units")),
        ("What were trade receivables in 2031?", Is("870")),
    ]),
    ("Estate;Area;Rent 2032
Oak House;40;90
Elm House;30;50
Subtotal homes;70;140
Ash Mill;35;95
Subtotal mills;35;95
Total;105;235", &[
        ("Which estate has the highest rent?", Is("Ash Mill")),
        ("Which estate had the largest area?", Is("Oak House")),
    ]),
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
    ]),
    (";2031;2032\nCost of sales;300;350\nSelling costs;(50);(60)", &[
        ("What were total costs in 2032?", Unsure("")),
        ("What was the total of selling costs and cost of sales in 2032?", Unsure("")),
    ]),
    (";2031;2032\nTurnover;80;90\nCapex;5;6\nNet earnings;8;4", &[
        ("what was revenue in 2032?", Is("90")),
        ("what were capital expenditures in 2031?", Is("5")),
        ("in which year was the top line highest?", Is("2032")),
        ("what was the net profit margin in 2031?", Is("10.0%")),
        ("was turnover or capex larger in 2032?", Is("Turnover")),
        ("what was gross profit in 2032?", Unsure("gross profit")),
    ]),
    (";31 Dec 2031;31 Dec 2032\nDeposits;500;550", &[
        ("What were deposits on 30 December 2032?", Unsure("no 30 December of 2032")),
    ]),
    ("Department;Budget 2034;Actual 2034\nSales;500;620\nIT;300;310\nTotal;800;930", &[
        ("what was the IT budget in 2034?", Is("300")),
        ("what was IT actual as a percentage of IT budget in 2034?", Is("103.3%")),
        ("did sales exceed its budget in 2034?", Is("yes")),
    ]),
    ("Mine;Currency;Sales 2034;Staff\nAtla;USD;120;40\nBorr;EUR;98;60", &[
        ("what is the total staff?", Is("100")),
        ("which mine had the highest sales in 2034?", Unsure("different units")),
        ("what were the sales of Borr in 2034?", Is("98")),
    ]),
    (";2034;2033\nRevenue;100;90\nGross margin;40.0%;39.0%", &[
        ("what was gross profit in 2034?", Unsure("as a percentage only")),
    ]),
];
