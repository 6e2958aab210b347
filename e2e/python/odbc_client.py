"""psqlODBC through pyodbc: catalog functions, parameters, transactions, types, errors."""

import datetime
import decimal
import sys

import pyodbc

from check import Checks

check = Checks("psqlODBC")


def values(conn):
    cur = conn.cursor()
    cur.execute("CREATE TABLE od (id int PRIMARY KEY, name varchar(20) NOT NULL, price numeric(8,2), at timestamp, ok boolean, f float8, b bytea)")
    conn.commit()
    at = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
    cur.fast_executemany = False
    cur.executemany("INSERT INTO od VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(i, f"năm {i}", decimal.Decimal(i) / 4, at, i % 2 == 0, i / 2, b"\x00\xff") for i in range(50)])
    conn.rollback()
    check.same("rollback", cur.execute("SELECT count(*) FROM od").fetchval(), 0)
    cur.executemany("INSERT INTO od VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(i, f"năm {i}", decimal.Decimal(i) / 4, at, i % 2 == 0, i / 2, b"\x00\xff") for i in range(50)])
    conn.commit()
    row = cur.execute("SELECT id, name, price, at, ok, f, b FROM od WHERE id = ?", 7).fetchone()
    check.same("types", tuple(row)[:4], (7, "năm 7", decimal.Decimal("1.75"), at))
    check.same("bool, float, bytea", (row.ok in (False, "0"), row.f, bytes(row.b)), (True, 3.5, b"\x00\xff"))
    check.same("NULL parameter", cur.execute("SELECT coalesce(?::int, -1)", None).fetchval(), -1)
    check.same("fetchmany", len(cur.execute("SELECT id FROM od ORDER BY id").fetchmany(20)), 20)
    check.same("rowcount", cur.execute("UPDATE od SET f = 0 WHERE id < 5").rowcount, 5)
    conn.commit()
    cur.execute("SELECT id FROM od WHERE id = 1")
    try:
        cur.execute("INSERT INTO od (id, name) VALUES (1, 'again')")
        check.same("unique key", "none", "23505")
    except pyodbc.IntegrityError as e:
        check.same("unique key", e.args[0], "23505")
    check.same("a failed statement leaves the transaction usable", cur.execute("SELECT count(*) FROM od").fetchval(), 50)
    conn.commit()


def catalogs(conn):
    cur = conn.cursor()
    cur.execute("CREATE STREAM ods (id bigint, k text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 2, partition_key = 'k')")
    cur.execute("CREATE CONTINUOUS VIEW odv AS SELECT k, count(*) AS n FROM ods GROUP BY k")
    conn.commit()
    cur.executemany("INSERT INTO ods VALUES (?, ?, ?)", [(i, f"k{i % 2}", datetime.datetime(2024, 1, 1)) for i in range(20)])
    conn.commit()
    check.same("view", [tuple(r) for r in cur.execute("SELECT k, n FROM odv ORDER BY k")], [("k0", 10), ("k1", 10)])
    tables = {t.table_name: t.table_type for t in cur.tables(schema="public")}
    check.same("SQLTables", {k: tables.get(k) for k in ("od", "ods", "odv")}, {"od": "TABLE", "ods": "TABLE", "odv": "VIEW"})
    columns = [(c.column_name, c.type_name, c.nullable) for c in cur.columns(table="od")]
    check.same("SQLColumns", columns[:4], [("id", "int4", 0), ("name", "varchar", 0), ("price", "numeric", 1), ("at", "timestamp", 1)])
    check.same("SQLColumns sizes", [(c.column_size, c.decimal_digits) for c in cur.columns(table="od")][1:3], [(20, None), (8, 2)])
    check.same("SQLColumns of a view", [c.column_name for c in cur.columns(table="odv")][:2], ["k", "n"])
    check.same("SQLPrimaryKeys", [k.column_name for k in cur.primaryKeys("od")], ["id"])
    check.same("SQLForeignKeys", list(cur.foreignKeys("od")), [])
    check.same("SQLStatistics", "od_pkey" in [s.index_name for s in cur.statistics("od")], True)
    check.same("SQLGetTypeInfo", {"int4", "text", "timestamptz"} <= {t.type_name for t in cur.getTypeInfo()}, True)
    check.same("SQLProcedures", len(list(cur.procedures(procedure="lower", schema="pg_catalog"))) > 0, True)
    check.same("DBMS", conn.getinfo(pyodbc.SQL_DBMS_NAME), "PostgreSQL")


def errors(conn):
    cur = conn.cursor()
    for sql, state in (("SELECT nosuch", "42703"), ("SELECT * FROM nosuch", "42P01"), ("SELEC", "42601"), ("SELECT 1/0", "22012")):
        try:
            cur.execute(sql).fetchall()
            check.same(sql, "none", state)
        except pyodbc.Error as e:
            check.same(sql, e.args[0], state)
    conn.rollback()


def main():
    conn = pyodbc.connect(sys.argv[1])
    conn.setdecoding(pyodbc.SQL_CHAR, encoding="utf-8")
    for name, part in (("values", values), ("catalogs", catalogs), ("errors", errors)):
        check.section(name, part, conn)
        conn.rollback()
    conn.close()
    declared = pyodbc.connect(sys.argv[1] + ";UseDeclareFetch=1;Fetch=7", autocommit=True)
    check.same("UseDeclareFetch", [r[0] for r in declared.execute("SELECT id FROM od ORDER BY id")], list(range(50)))
    declared.close()
    check.end()


main()
