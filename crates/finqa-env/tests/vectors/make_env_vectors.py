"""Writes env_tables.json and env_queries.json: what pandas 3.0.2 and SQLite make
of tables and queries, called as in OpenEnv's finqa_env.

    pip install pandas==3.0.2 && python crates/finqa-env/tests/vectors/make_env_vectors.py
"""
import io, json, os, random, sqlite3, warnings
import pandas as pd

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "../fixtures/finqa-env/data/input_companies")


def load(text, name):
    connection = sqlite3.connect(":memory:")
    pd.read_json(io.StringIO(text)).to_sql(name, connection, index=False)
    return connection


def query(text, name, sql):
    try:
        return pd.read_sql_query(sql, load(text, name)).to_json(orient="records")
    except Exception as e:
        return f"Error executing query: {e}"


def table(text):
    try:
        c = load(text, "t")
        columns = [[r[1], r[2]] for r in c.execute("pragma table_info(t)")]
        rows = [list(r) for r in c.execute("select * from t")]
        rows = [[repr(v) if isinstance(v, float) else v for v in r] for r in rows]
        return {"json": text, "columns": columns, "rows": rows}
    except Exception as e:
        return {"json": text, "error": str(e)}


TABLES = [
    '{"a":{"0":"1","1":"2"}}', '{"a":{"0":"1","1":null}}', '{"a":{"0":"1.0","1":"2"}}',
    '{"a":[1,"x"]}', '{"a":[1,2.5,"x"]}', '{"a":[true,false]}', '{"a":[true,null]}',
    '{"a":[true,"x"]}', '{"a":[null,null]}', '{"a":["",""]}', '{"a":["","1"]}',
    '{"date":["2024","2025"]}', '{"date":["2024-01-01","2025-03-04"]}',
    '{"date":["dec 31, 2024","jan 1, 2023"]}',
    '{"date":["",""]}', '{"date":["2024-01-01",null]}', '{"date":["2024-01-01 10:11:12",null]}',
    '{"date":["2024-01-01","dec 31, 2023"]}', '{"date":["12/31/2024","01/02/2023"]}',
    '{"date":["x","2024"]}', '{"date":["2024","abc"]}', '{"date":["5%","6%"]}',
    '{"date":["q1 2024","total"]}', '{"date":["1,000"]}', '{"date":[31535999,1700000000]}',
    '{"date":[null,null]}', '{"date":["december 2024","march 2023"]}',
    '{"modified":["2024"]}', '{"created_at":["2024-05-06T07:08:09"]}', '{"end_time":["5","6"]}',
    '{"Date":["2024-12-31"]}',
    '{"":[1,2],"2024":[3,4]}', '{"":["a","b"],"2024":["1","2"],"2023":["3","4"]}',
    '{"2024":[1],"2023.0":[2]}', '{"2024":[1],"2023":[2]}', '{"007":[1],"8":[2]}',
    '{"1":[1],"1.5":[2]}', '{"1":[1],"nan":[2]}', '{"1e3":[1],"1e20":[2]}', '{"1":[1],"x":[2]}',
    '{"2024-01-01":[1],"2023-01-01":[2]}', '{"jan 2024":[1],"feb 2024":[2]}',
    '{"december 31 2024":[1],"december 31 2023":[2]}',
    '{"december_31_2024":[1],"december_31_2023":[2]}',
    '{"2024 total":[1],"2023 total":[1]}', '{"Q1 2024":[1],"Q2 2024":[1]}',
    '{"item":[1],"Item":[2]}', '[{"a":1,"b":"x"},{"b":"y","c":2}]',
    '{"a":{"1":"x","0":"y"},"b":{"0":1,"2":5}}', '{"a":[],"b":[]}', '{}',
    '{"a":[1],"b":[1,2]}', '"x"', '{"a":5}', '{"a":[9223372036854775807]}',
    '{"a":["9223372036854775808"]}', '{"a":["1_000","\u0663"]}', '{"a":["nan","1"]}',
    '{"a":["None","1"]}', '{"a":["1e5","inf"]}', '{"a":[" 2 ","3"]}', '{"a":["0x10","3"]}',
    '{"a":[1.0,2.0]}', '{"a":[1.0,null]}', '{"a":[1.5,"2"]}', '{"a":["1",2]}',
    '{"a":["1",2.5,null]}', '{"a":{"0":"x","10":"y","9":"z"}}', '{"a":{"x":1,"y":2}}',
    '{"a":[true,1]}', '{"a":[true,1.5]}', '{"a":["x",null,3.0]}', '{"a":["x",3.5,true]}',
    '{"a":["1,000","$5","5%","(5)"]}', '{"a":["00","1"]}', '{"a":["-5","+6"]}',
]

QUERIES = [
    ("acme", "us_gaap_IncomeStatement", [
        'SELECT line_item, "2024" FROM us_gaap_IncomeStatement WHERE line_item LIKE \'%revenue%\'',
        'select "2024" from us_gaap_IncomeStatement where nope = 1',
        'select nope from us_gaap_IncomeStatement where 1',
        'SELEC a where 1', 'select line_item from us_gaap_IncomeStatement where', 'select 1 where 0',
        'select line_item from us_gaap_IncomeStatement where 1; select 2',
        'select line_item from us_gaap_IncomeStatement where line_item = \'x\';  -- done',
        'select "2024", "2024" from us_gaap_IncomeStatement where 1',
        "select replace(replace(\"2024\", '$', ''), ',', '') v from us_gaap_IncomeStatement where 1",
        "select cast(replace(replace(\"2024\", '$', ''), ',', '') as real) v from us_gaap_IncomeStatement where 1",
        "select cast(replace(\"2024\", ',', '') as integer) * 1.0 / 7 v from us_gaap_IncomeStatement where line_item in ('net_income', 'gross_profit')",
        "select trim(\"2024\", '()') v, instr(\"2024\", ',') i from us_gaap_IncomeStatement where 1",
        "select count(*) from us_gaap_IncomeStatement where 1",
        "select max(line_item) as m, min(\"2023\") from us_gaap_IncomeStatement having 1",
        "select line_item || '/x' as k from us_gaap_IncomeStatement where line_item like 'net%'",
        "select ? where 1",
        "select case when \"2024\" = '' then null else 1 end x from us_gaap_IncomeStatement",
        "select \"not there\" from us_gaap_IncomeStatement where line_item = 'net_income'",
        "select line_item from us_gaap_IncomeStatement where \"2024\" = 'unterminated",
        "select line_item from other where 1", "select abs() where 1", "select nofunc(1) where 1",
    ]),
    ("acme", "us_gaap_RevenueBySegment", [
        'select segment, year, revenue, share from us_gaap_RevenueBySegment where year in (2023, 2024)',
        'select segment, sum(revenue) s, avg(share) a from us_gaap_RevenueBySegment where 1 group by segment',
        'select year, revenue from us_gaap_RevenueBySegment where revenue is null',
        'select revenue from us_gaap_RevenueBySegment where revenue is not null order by revenue desc limit 2',
        "select instr(revenue, '0') i, replace(revenue, '0', 'o') r, trim(share, '0') t, ltrim(year, '2') l, rtrim(year, '4') e from us_gaap_RevenueBySegment where 1",
        'select year, lag(revenue) over (partition by segment order by year) p from us_gaap_RevenueBySegment where 1',
        'with x as (select year y, revenue r from us_gaap_RevenueBySegment where segment = \'cloud\') select a.r - b.r d from x a join x b on a.y = b.y + 1 where 1',
        'select revenue from us_gaap_RevenueBySegment where share between 0.3 and 0.35 union all select 1',
        "select round(share, 2) r, share * 1e17 b, share / 1e17 s, -share n from us_gaap_RevenueBySegment where segment = 'devices'",
        "select group_concat(year) g, total(revenue) t from us_gaap_RevenueBySegment where segment = 'cloud'",
        "select json_extract('[1,2]', '$[1]') j, printf('%.2f', share) p from us_gaap_RevenueBySegment where year = 2022",
        "select x'414243' b, null n, 'a' || char(9) || '\u00e9\U0001F600' u where 1",
        "select 1 a union all select 'x' where 1", "select 9e999 i, -9e999 j where 1",
    ]),
    ("acme", "us_gaap_DebtInstruments", [
        'select instrument, date, rate, principal, secured from us_gaap_DebtInstruments where 1',
        "select strftime('%Y', date) y from us_gaap_DebtInstruments where secured = 1",
    ]),
    ("globex", "us_gaap_BalanceSheet", [
        'select item, december_31_2024, note from us_gaap_BalanceSheet where 1',
    ]),
    ("globex", "us_gaap_EffectiveTaxRate", [
        'select year, statutory, effective, amount, tiny from us_gaap_EffectiveTaxRate where 1',
        'select amount / 3.0 a, tiny / 1e10 t, effective * 100 e from us_gaap_EffectiveTaxRate where 1',
    ]),
    ("globex", "us_gaap_Shares-Outstanding", [
        'select class, shares from "us_gaap_Shares-Outstanding" where shares > 300000',
        'select class from us_gaap_Shares-Outstanding where 1',
    ]),
]

random.seed(7)
FLOATS = [random.uniform(-1, 1) * 10 ** random.randint(-18, 18) for _ in range(400)]
FLOATS += [random.randint(-10**6, 10**6) / 10 ** random.randint(0, 8) for _ in range(200)]

if __name__ == "__main__":
    with open(os.path.join(HERE, "env_tables.json"), "w") as f:
        json.dump([table(t) for t in TABLES], f, indent=0)
    out = []
    for company, name, statements in QUERIES:
        with open(os.path.join(DATA, company, name + ".json")) as f:
            text = f.read()
        for sql in statements:
            out.append({"company": company, "table": name, "query": sql, "result": query(text, name, sql)})
    frame = pd.DataFrame({"x": FLOATS}).to_json(orient="records")
    with open(os.path.join(HERE, "env_queries.json"), "w") as f:
        json.dump({"queries": out, "floats": [repr(x) for x in FLOATS], "printed": frame}, f, indent=0)
