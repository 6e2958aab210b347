"""Runs each line of the input, a JSON string, as SQL on DuckDB; answers in JSON."""

import json
import sys
import time

import duckdb

connection = duckdb.connect(":memory:")
connection.execute("SET enable_progress_bar = false")  # it would be among the answers
for line in sys.stdin:
    try:
        began = time.perf_counter()
        rows = connection.execute(json.loads(line)).fetchall()
        seconds = time.perf_counter() - began
        answer = {"seconds": seconds, "rows": [["NULL" if v is None else str(v) for v in r] for r in rows]}
    except Exception as error:  # the caller says which query it was
        answer = {"error": str(error) or "it failed"}
    print(json.dumps(answer), flush=True)
