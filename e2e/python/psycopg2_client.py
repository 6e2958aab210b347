"""psycopg2: types, parameters, transactions, savepoints, named cursors, COPY, LISTEN, errors."""

import datetime
import decimal
import io
import sys
import uuid

import psycopg2
import psycopg2.extensions
import psycopg2.extras

from check import Checks

UTC = datetime.timezone.utc
check = Checks("psycopg2")


def types(conn):
    psycopg2.extras.register_uuid()
    cur = conn.cursor()
    values = [
        ("bool", True), ("int2", 7), ("int8", 1 << 40), ("float8", 1.5), ("numeric", decimal.Decimal("12.340")), ("text", "năm ' \\ \" 5"),
        ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(12, 30, 1)), ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)),
        ("timestamptz", datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC)), ("interval", datetime.timedelta(days=3, seconds=4)),
        ("uuid", uuid.UUID("7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11")), ("int4[]", [1, 2, None]), ("text[]", ["a", 'b"c', "d,e"]),
    ]
    for name, value in values:
        cur.execute(f"SELECT %s::{name}, NULL::{name}", (value,))
        check.same(f"type {name}", cur.fetchone(), (value, None))
    cur.execute("SELECT %s::bytea", (psycopg2.Binary(b"\x00\x01\xff"),))
    check.same("type bytea", bytes(cur.fetchone()[0]), b"\x00\x01\xff")
    cur.execute("SELECT %s::jsonb", (psycopg2.extras.Json({"a": [1, None, "x"]}),))
    check.same("type jsonb", cur.fetchone()[0], {"a": [1, None, "x"]})
    cur.execute("SELECT 1 AS one, 'x'::varchar(9) AS v")
    check.same("description", [(c.name, c.type_code) for c in cur.description], [("one", 23), ("v", 1043)])
    conn.rollback()


def transactions(conn):
    cur = conn.cursor()
    cur.execute("CREATE TABLE p2 (id int PRIMARY KEY, name text, price numeric(8,2))")
    conn.commit()
    psycopg2.extras.execute_values(cur, "INSERT INTO p2 VALUES %s", [(i, f"n{i}", decimal.Decimal(i) / 4) for i in range(500)])
    conn.rollback()
    cur.execute("SELECT count(*) FROM p2")
    check.same("rollback", cur.fetchone(), (0,))
    psycopg2.extras.execute_values(cur, "INSERT INTO p2 VALUES %s", [(i, f"n{i}", decimal.Decimal(i) / 4) for i in range(500)])
    check.same("rowcount", cur.rowcount, 100)  # of the last page
    cur.execute("SAVEPOINT a")
    check.raises("unique key", psycopg2.errors.UniqueViolation, "23505", lambda: cur.execute("INSERT INTO p2 VALUES (1, 'x', 0)"))
    check.same("status after an error", conn.get_transaction_status(), psycopg2.extensions.TRANSACTION_STATUS_INERROR)
    cur.execute("ROLLBACK TO SAVEPOINT a")
    cur.execute("UPDATE p2 SET name = name || '!' WHERE id < 10 RETURNING id")
    check.same("RETURNING", sorted(r[0] for r in cur.fetchall()), list(range(10)))
    conn.commit()
    cur.execute("SELECT sum(price), max(name) FROM p2 WHERE id = ANY(%s)", ([1, 2, 3],))
    check.same("sum", cur.fetchone(), (decimal.Decimal("1.50"), "n3!"))
    conn.commit()


def cursors(conn):
    with conn.cursor("named") as cur:
        cur.itersize = 64
        cur.execute("SELECT id, price FROM p2 ORDER BY id")
        check.same("named cursor", sum(r[0] for r in cur), sum(range(500)))
    with conn.cursor("scrolled", scrollable=True) as cur:
        cur.execute("SELECT id FROM p2 ORDER BY id")
        cur.scroll(100)
        check.same("scroll forward", cur.fetchone(), (100,))
        cur.scroll(10, mode="absolute")
        check.same("scroll absolute", cur.fetchone(), (10,))
        cur.scroll(-2)
        check.same("scroll back", cur.fetchmany(2), [(9,), (10,)])
    conn.commit()
    with conn.cursor("held", withhold=True) as cur:
        cur.execute("SELECT id FROM p2 ORDER BY id DESC")
        check.same("hold: before", cur.fetchone(), (499,))
        conn.commit()
        check.same("hold: after COMMIT", cur.fetchone(), (498,))
    conn.commit()


def streams(conn):
    cur = conn.cursor()
    cur.execute("CREATE STREAM p2s (id bigint, k text, v float8, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')"
                " WITH (partitions = 2, partition_key = 'k', dedup_key = 'k,id')")
    cur.execute("CREATE CONTINUOUS VIEW p2v AS SELECT k, count(*) AS n, sum(v) AS v FROM p2s GROUP BY k")
    conn.commit()
    rows = "".join(f"{i}\tk{i % 3}\t{i}.5\t2024-01-01 00:00:{i % 60:02d}+00\n" for i in range(300))
    cur.copy_expert("COPY p2s (id, k, v, at) FROM STDIN", io.StringIO(rows))
    cur.copy_from(io.StringIO(rows), "p2s", sep="\t", null="")  # the same rows again count nothing
    conn.commit()
    cur.execute("SELECT k, n, v, _status FROM p2v ORDER BY k")
    check.same("view", cur.fetchall(), [("k0", 100, 14900.0, "complete"), ("k1", 100, 15000.0, "complete"), ("k2", 100, 15100.0, "complete")])
    out = io.StringIO()
    cur.copy_expert("COPY (SELECT id, name FROM p2 WHERE id < 3 ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)", out)
    check.same("COPY TO", out.getvalue(), "id,name\n0,n0!\n1,n1!\n2,n2!\n")
    check.raises("COPY of bad data", psycopg2.errors.InvalidTextRepresentation, "22P02",
                 lambda: cur.copy_expert("COPY p2s FROM STDIN CSV", io.StringIO("x,y,z,w\n")))
    conn.rollback()


def notifications(dsn):
    a, b = psycopg2.connect(dsn), psycopg2.connect(dsn)
    a.autocommit = b.autocommit = True
    a.cursor().execute("LISTEN news")
    b.cursor().execute("NOTIFY news, 'hello'")
    b.cursor().execute("SELECT pg_notify('other', 'unheard')")
    a.cursor().execute("SELECT 1")
    a.poll()
    check.same("LISTEN/NOTIFY", [(n.channel, n.payload, n.pid) for n in a.notifies], [("news", "hello", b.get_backend_pid())])
    a.close()
    b.close()


def errors(conn):
    cur = conn.cursor()
    check.raises("syntax error", psycopg2.errors.SyntaxError, "42601", lambda: cur.execute("SELEC 1"))
    conn.rollback()
    try:
        cur.execute("SELECT 1, nosuch FROM p2")
    except psycopg2.errors.UndefinedColumn as e:
        check.same("position of an error", (e.diag.statement_position, e.diag.severity), ("11", "ERROR"))
    conn.rollback()
    check.raises("division by zero", psycopg2.errors.DivisionByZero, "22012", lambda: cur.execute("SELECT 1 / 0"))
    conn.rollback()
    conn.set_session(isolation_level="SERIALIZABLE", readonly=True)
    check.raises("read-only", psycopg2.errors.ReadOnlySqlTransaction, "25006", lambda: cur.execute("DELETE FROM p2"))
    conn.rollback()
    conn.set_session(isolation_level="DEFAULT", readonly=False)


def main():
    dsn = sys.argv[1]
    conn = psycopg2.connect(dsn)
    check.same("server_version", conn.server_version // 10000, 15)
    check.same("encoding", conn.encoding, "UTF8")
    for name, part in (("types", types), ("transactions", transactions), ("cursors", cursors), ("streams", streams), ("errors", errors)):
        check.section(name, part, conn)
        conn.rollback()
    conn.close()
    check.section("notifications", notifications, dsn)
    check.end()


main()
