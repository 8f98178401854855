"""The same queries to our server and to one that runs pandas: the same rows as text.

    python same_rows.py http://127.0.0.1:8000 http://127.0.0.1:8001

Both serve one data directory; the second is openenv_finqa.py.
"""

import json
import sys

from openenv.core import GenericEnvClient


def say(env, tool, **arguments):
    step = env.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
    assert step.observation["error"] is None, step.observation
    return step.observation["result"]["data"]


def queries(table, columns):
    name = lambda text: '"' + text.replace('"', '""') + '"'
    first, last, table = name(columns[0]), name(columns[-1]), name(table)
    everything = ", ".join(name(column) for column in columns)
    yield f"SELECT {everything} FROM {table} WHERE 1 = 1"
    yield f"SELECT {everything} FROM {table} WHERE {first} LIKE '%e%' ORDER BY {last} DESC LIMIT 3"
    yield f"SELECT {first} AS a, COUNT(*) AS n, MAX({last}) AS m FROM {table} WHERE {first} IS NOT NULL GROUP BY 1 ORDER BY 1"
    yield f"SELECT {last} * 1.5 AS x, {last} / 3 AS y, ROUND({last}, 4) || '/é' AS z FROM {table} WHERE {last} IS NOT NULL"
    yield f"SELECT CAST(REPLACE({last}, ',', '') AS REAL) / 7 AS x, ROUND({last}, 1) AS r FROM {table} WHERE 1 = 1"
    yield f"SELECT AVG({last}) AS a, SUM({last}) AS s, MIN({last}) AS m, NULL AS n FROM {table} WHERE 1 = 1"
    yield f"SELECT {first} FROM {table} WHERE {first} IN ('no such value')"
    yield f"SELECT CASE WHEN {last} > 0 THEN 1 ELSE 0.5 END AS c, LENGTH({first}) AS l FROM {table}"


def main(ours, theirs):
    compared = 0
    with GenericEnvClient(base_url=ours).sync() as us, GenericEnvClient(base_url=theirs).sync() as them:
        us.reset()
        companies = say(us, "get_descriptions", company_name="").split("companies: ")[1]
        for company in json.loads(companies.replace("'", '"')):
            us.reset()
            for table in json.loads(say(us, "get_descriptions", company_name=company)):
                us.reset(), them.reset()
                info = say(us, "get_table_info", company_name=company, table_name=table)
                if info.startswith("Error"):
                    continue
                for query in queries(table, list(json.loads(info)["column_dtypes"])):
                    asked = dict(company_name=company, table_name=table, query=query)
                    got, expected = say(us, "sql_query", **asked), say(them, "sql_query", **asked)
                    assert got == expected, f"{company}/{table}: {query}\n{got}\n{expected}"
                    compared += 1
    print(f"ok: {compared} queries")


if __name__ == "__main__":
    main(*sys.argv[1:])
