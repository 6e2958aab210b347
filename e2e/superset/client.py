"""Apache Superset without a browser: its own REST API, in one process, against a
database connection of the usual kind. Connects, lists schemas, tables and views,
makes a dataset of a continuous view and asks for charts."""

import json
import os
import sys
import traceback

failed = 0


def same(what, got, want):
    global failed
    ok = got == want
    print(f"{'ok  ' if ok else 'FAIL'} Superset: {what}" + ("" if ok else f": got {got!r}, want {want!r}"))
    failed += not ok


class API:
    """The REST API, logged in as the administrator."""

    def __init__(self, app):
        self.client = app.test_client()
        token = self.call("POST", "/api/v1/security/login", {"username": "admin", "password": "admin", "provider": "db"})["access_token"]
        self.headers = {"Authorization": f"Bearer {token}"}

    headers = {}

    def call(self, method, path, body=None):
        r = self.client.open(path, method=method, json=body, headers=self.headers)
        if r.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {r.status_code} {r.get_data(as_text=True)[:2000]}")
        return r.get_json()


def explore(api, uri):
    same("test connection", api.call("POST", "/api/v1/database/test_connection/", {"sqlalchemy_uri": uri, "database_name": "probe"})["message"], "OK")
    database = api.call("POST", "/api/v1/database/", {"database_name": "TallyDB", "sqlalchemy_uri": uri, "expose_in_sqllab": True})["id"]
    schemas = api.call("GET", f"/api/v1/database/{database}/schemas/")["result"]
    same("schemas", {"public", "information_schema"} <= set(schemas), True)
    tables = api.call("GET", f"/api/v1/database/{database}/tables/?q=(schema_name:public,force:!t)")["result"]
    kinds = {t["value"]: t["type"] for t in tables}
    same("tables and views", {k: kinds.get(k) for k in ("flights", "carriers", "by_hour")}, {"flights": "table", "carriers": "table", "by_hour": "view"})
    meta = api.call("GET", f"/api/v1/database/{database}/table_metadata/?name=by_hour&schema=public")
    same("columns", [(c["name"], c["type"]) for c in meta["columns"]][:3], [("carrier", "TEXT"), ("window_start", "TIMESTAMP"), ("n", "BIGINT")])
    return database


def charts(api, database):
    dataset = api.call("POST", "/api/v1/dataset/", {"database": database, "schema": "public", "table_name": "by_hour"})["id"]
    d = api.call("GET", f"/api/v1/dataset/{dataset}")["result"]
    same("dataset: its time column", [c["column_name"] for c in d["columns"] if c["is_dttm"]], ["window_start"])
    total = {"expressionType": "SIMPLE", "column": {"column_name": "n"}, "aggregate": "SUM", "label": "flights"}

    def chart(**query):
        body = {"datasource": {"id": dataset, "type": "table"}, "force": True, "result_format": "json", "result_type": "full", "queries": [query]}
        return api.call("POST", "/api/v1/chart/data", body)["result"][0]["data"]

    rows = chart(columns=["carrier"], metrics=[total], orderby=[["carrier", True]], row_limit=100)
    same("bar chart", rows, [{"carrier": "AA", "flights": 200}, {"carrier": "UA", "flights": 200}])
    axis = {"columnType": "BASE_AXIS", "sqlExpression": "window_start", "label": "window_start", "expressionType": "SQL", "timeGrain": "PT1H"}
    rows = chart(columns=[axis], metrics=[total], time_range="2024-01-01T00:00:00 : 2024-01-01T03:00:00", granularity="window_start",
                 extras={"time_grain_sqla": "PT1H"}, row_limit=100)
    same("time series", sorted(r["flights"] for r in rows), [99, 100, 100])
    rows = chart(columns=["carrier"], metrics=[total, {"expressionType": "SQL", "sqlExpression": "max(origins)", "label": "origins"}],
                 filters=[{"col": "carrier", "op": "IN", "val": ["AA", "ZZ"]}], extras={"having": "sum(n) > 10"}, row_limit=100)
    same("filters and HAVING", rows, [{"carrier": "AA", "flights": 200, "origins": 7}])
    rows = chart(columns=["carrier", "n", "_status"], metrics=[], orderby=[["n", False]], row_limit=1)
    same("raw rows", [r["n"] for r in rows], [50])
    values = api.call("GET", f"/api/v1/datasource/table/{dataset}/column/carrier/values/")["result"]
    same("values of a filter", sorted(values), ["AA", "UA"])
    virtual = api.call("POST", "/api/v1/dataset/", {
        "database": database, "schema": "public", "table_name": "named",
        "sql": "SELECT c.name, h.n FROM by_hour h JOIN carriers c ON c.code = h.carrier"})["id"]
    body = {"datasource": {"id": virtual, "type": "table"}, "force": True, "result_format": "json", "result_type": "full",
            "queries": [{"columns": ["name"], "metrics": [total], "orderby": [["name", True]], "row_limit": 10}]}
    rows = api.call("POST", "/api/v1/chart/data", body)["result"][0]["data"]
    same("a dataset of a query", rows, [{"name": "American", "flights": 200}, {"name": "United", "flights": 200}])


def lab(api, database):
    body = {"database_id": database, "schema": "public", "sql": "SELECT carrier, approx_distinct(origin) AS o FROM flights GROUP BY carrier ORDER BY carrier",
            "runAsync": False, "expand_data": True, "client_id": "tallye2e001", "queryLimit": 100}
    r = api.call("POST", "/api/v1/sqllab/execute/", body)
    same("SQL Lab", r["data"], [{"carrier": "AA", "o": 7}, {"carrier": "UA", "o": 7}])
    body = dict(body, sql="SELECT nosuch FROM flights", client_id="tallye2e002")
    try:
        api.call("POST", "/api/v1/sqllab/execute/", body)
        same("SQL Lab: an error", "none", "a message")
    except RuntimeError as e:
        same("SQL Lab: an error and its line", 'COLUMN_DOES_NOT_EXIST_ERROR' in str(e) and 'at line 2' in str(e), True)


def main():
    from superset.app import create_app

    app = create_app()
    try:
        api = API(app)
        database = explore(api, os.environ["TALLY_URI"])
        charts(api, database)
        lab(api, database)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        same("the script", "an exception", "none")
    sys.stdout.flush()
    os._exit(1 if failed else 0)  # threads of the application may wait for ever


main()
