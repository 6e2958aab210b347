"""psycopg 3: binary and text results, server-side parameters, pipelines, nested transactions, COPY, LISTEN, async."""

import asyncio
import datetime
import decimal
import sys
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from check import Checks

UTC = datetime.timezone.utc
check = Checks("psycopg3")


def types(conn):
    values = [
        ("bool", False), ("int2", 7), ("int4", -8), ("int8", 1 << 40), ("float4", 0.5), ("float8", 1.1), ("numeric", decimal.Decimal("-12.3400")),
        ("text", "năm"), ("varchar(3)", "abc"), ("bytea", b"\x00\xff"), ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(12, 30, 1, 5)),
        ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)), ("timestamptz", datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC)),
        ("interval", datetime.timedelta(days=3, seconds=4, microseconds=5)), ("uuid", uuid.UUID("7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11")),
        ("int4[]", [1, None, 3]), ("text[]", ["a", None, 'd"e']), ("float8[]", [1.5, 2.5]), ("timestamptz[]", [datetime.datetime(2024, 1, 1, tzinfo=UTC)]),
    ]
    conn.execute("SET TIME ZONE 'UTC'")
    for binary in (False, True):
        cur = conn.cursor(binary=binary)
        for name, value in values:
            if value == "abc":
                got = cur.execute(f"SELECT %s::{name}, NULL::{name}", (value,)).fetchone()
            else:
                mark = "%b" if binary else "%t"
                got = cur.execute(f"SELECT {mark}::{name}, NULL::{name}", (value,)).fetchone()
            got = (got[0].astimezone(UTC), got[1]) if name == "timestamptz" else got
            check.same(f"type {name}, {'binary' if binary else 'text'}", got, (value, None))
        check.same(f"type jsonb, {'binary' if binary else 'text'}", cur.execute("SELECT %s::jsonb", (Jsonb({"a": [1, None]}),)).fetchone(), ({"a": [1, None]},))
    conn.commit()


def transactions(conn):
    conn.execute("CREATE TABLE p3 (id int PRIMARY KEY, name text, price numeric(8,2))")
    conn.commit()
    with conn.transaction():
        conn.cursor().executemany("INSERT INTO p3 VALUES (%s, %s, %s)", [(i, f"n{i}", decimal.Decimal(i) / 4) for i in range(100)])
        try:
            with conn.transaction():  # a savepoint
                conn.execute("DELETE FROM p3")
                conn.execute("INSERT INTO p3 VALUES (1, 'a', 0), (1, 'b', 0)")
        except psycopg.errors.UniqueViolation as e:
            check.same("an inner transaction fails", (e.sqlstate, e.diag.message_detail), ("23505", "Key (id)=(1) already exists."))
    check.same("the outer one stays", conn.execute("SELECT count(*), sum(price) FROM p3").fetchone(), (100, decimal.Decimal("1237.50")))
    cur = conn.cursor(row_factory=dict_row)
    cur.execute("SELECT id, name FROM p3 WHERE name = %(name)s", {"name": "n7"})
    check.same("named parameters", cur.fetchall(), [{"id": 7, "name": "n7"}])
    conn.commit()


def pipeline(conn):
    with conn.pipeline():
        cur = conn.cursor()
        conn.execute("INSERT INTO p3 VALUES (1000, 'pipe', 1)")
        cur.execute("SELECT name FROM p3 WHERE id = 1000")
        other = conn.execute("SELECT count(*) FROM p3")
    check.same("pipeline", (cur.fetchone(), other.fetchone()), (("pipe",), (101,)))
    conn.rollback()
    try:
        with conn.pipeline():
            conn.execute("SELECT 1 / 0")
            conn.execute("INSERT INTO p3 VALUES (1001, 'pipe', 1)")
    except psycopg.errors.DivisionByZero:
        pass
    conn.rollback()
    check.same("pipeline with an error", conn.execute("SELECT count(*) FROM p3").fetchone(), (100,))
    for i in range(8):  # prepared on the server after the fifth
        row = conn.execute("SELECT name FROM p3 WHERE id = %s", (i,)).fetchone()
    check.same("prepared by itself", row, ("n7",))
    check.same("pg_prepared_statements", conn.execute("SELECT count(*) > 0 FROM pg_prepared_statements").fetchone(), (True,))
    conn.rollback()


def cursors(conn):
    with conn.cursor("c") as cur:
        cur.itersize = 30
        cur.execute("SELECT id FROM p3 ORDER BY id")
        check.same("server cursor", sum(r[0] for r in cur), 4950)
    with conn.cursor("d", binary=True, scrollable=True) as cur:
        cur.execute("SELECT id, price FROM p3 WHERE id >= %s ORDER BY id", (50,))
        cur.scroll(20)
        check.same("scroll", cur.fetchone(), (70, decimal.Decimal("17.50")))
        cur.scroll(0, mode="absolute")
        check.same("scroll absolute", cur.fetchone(), (50, decimal.Decimal("12.50")))
    with psycopg.ServerCursor(conn, "e", withhold=True) as cur:
        cur.execute("SELECT id FROM p3 ORDER BY id")
        conn.commit()
        check.same("hold", len(cur.fetchall()), 100)
    conn.commit()
    rows = [r for r in conn.cursor().stream("SELECT x FROM generate_series(1, 5) AS x")]
    check.same("stream", rows, [(1,), (2,), (3,), (4,), (5,)])
    conn.commit()


def copies(conn):
    conn.execute("CREATE STREAM p3s (id bigint, k text, v float8, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')"
                 " WITH (partitions = 2, partition_key = 'k', dedup_key = 'k,id')")
    conn.execute("CREATE CONTINUOUS VIEW p3v AS SELECT k, count(*) AS n, sum(v) AS v FROM p3s GROUP BY k")
    conn.commit()
    cur = conn.cursor()
    at = datetime.datetime(2024, 1, 1, tzinfo=UTC)
    for form in ("TEXT", "BINARY"):  # the second time the same rows count nothing
        with cur.copy(sql.SQL("COPY p3s (id, k, v, at) FROM STDIN (FORMAT {})").format(sql.SQL(form))) as copy:
            copy.set_types(["int8", "text", "float8", "timestamptz"])
            for i in range(300):
                copy.write_row((i, f"k{i % 3}", i + 0.5, at + datetime.timedelta(seconds=i % 60)))
        check.same(f"COPY {form} FROM", cur.rowcount, 300)
    conn.commit()
    check.same("view", conn.execute("SELECT k, n, v FROM p3v ORDER BY k").fetchall(), [("k0", 100, 14900.0), ("k1", 100, 15000.0), ("k2", 100, 15100.0)])
    for form in ("TEXT", "BINARY"):
        with cur.copy(f"COPY (SELECT id, name, price FROM p3 WHERE id < 2 ORDER BY id) TO STDOUT (FORMAT {form})") as copy:
            copy.set_types(["int4", "text", "numeric"])
            check.same(f"COPY {form} TO", list(copy.rows()), [(0, "n0", decimal.Decimal("0.00")), (1, "n1", decimal.Decimal("0.25"))])
    conn.rollback()


def notifications(dsn):
    with psycopg.connect(dsn, autocommit=True) as a, psycopg.connect(dsn) as b:
        a.execute("LISTEN news")
        b.execute("NOTIFY news, 'first'")
        b.execute("SELECT pg_notify('news', 'second')")
        b.execute("NOTIFY news, 'first'")  # the same again in one transaction is sent once
        b.commit()
        b.execute("NOTIFY news, 'rolled back'")
        b.rollback()
        got = [n.payload for n in a.notifies(timeout=5, stop_after=2)]
        check.same("LISTEN/NOTIFY", got, ["first", "second"])
        a.execute("UNLISTEN *")
        b.execute("NOTIFY news, 'unheard'")
        b.commit()
        check.same("UNLISTEN", [n.payload for n in a.notifies(timeout=0.2, stop_after=1)], [])


def adaptation(conn):
    info = psycopg.types.TypeInfo.fetch(conn, "timestamptz")
    check.same("TypeInfo", (info.oid, info.array_oid), (1184, 1185))
    check.same("TypeInfo of nothing", psycopg.types.TypeInfo.fetch(conn, "nosuch"), None)
    check.raises("a type that does not fit", psycopg.errors.InvalidTextRepresentation, "22P02", lambda: conn.execute("SELECT %s::int", ("x",)))
    conn.rollback()


def cancel(conn):
    asyncio.run(cancelled(conn.info.dsn))


async def cancelled(dsn):
    conn = await psycopg.AsyncConnection.connect(dsn)
    task = asyncio.ensure_future(conn.execute("SELECT pg_sleep(30)"))
    await asyncio.sleep(0.3)
    conn.cancel()
    try:
        await task
        check.same("cancel", "not cancelled", "57014")
    except psycopg.errors.QueryCanceled as e:
        check.same("cancel", e.sqlstate, "57014")
    await conn.close()


def main():
    dsn = sys.argv[1]
    conn = psycopg.connect(dsn)
    for name, part in (("types", types), ("transactions", transactions), ("pipeline", pipeline), ("cursors", cursors),
                       ("copies", copies), ("adaptation", adaptation), ("cancel", cancel)):
        check.section(name, part, conn)
        conn.rollback()
    conn.close()
    check.section("notifications", notifications, dsn)
    check.end()


main()
