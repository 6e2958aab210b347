"""asyncpg: binary everywhere, its own introspection of types, prepared statements, cursors, COPY, pools, LISTEN, cancel."""

import asyncio
import datetime
import decimal
import sys
import uuid

import asyncpg

from check import Checks

UTC = datetime.timezone.utc
check = Checks("asyncpg")


async def types(conn):
    values = [
        ("bool", True), ("int2", 7), ("int4", -8), ("int8", 1 << 40), ("float4", 0.5), ("float8", 1.1), ("numeric", decimal.Decimal("-12.3400")),
        ("text", "năm"), ("bytea", b"\x00\xff"), ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(12, 30, 1, 5)),
        ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)), ("timestamptz", datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC)),
        ("interval", datetime.timedelta(days=3, seconds=4, microseconds=5)), ("int4[]", [1, None, 3]), ("text[]", ["a", None, 'd"e']),
        ("float8[]", [1.5, 2.5]), ("timestamptz[]", [datetime.datetime(2024, 1, 1, tzinfo=UTC)]), ("jsonb", '{"a": [1, null]}'), ("oid", 26),
        ("numeric[]", [decimal.Decimal("1.50")]), ("varchar", "v"), ("name", "n"),
    ]
    for name, value in values:
        row = await conn.fetchrow(f"SELECT $1::{name} AS v, NULL::{name} AS n", value)
        check.same(f"type {name}", tuple(row), (value, None))
    u = uuid.UUID("7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11")
    check.same("type uuid", str(await conn.fetchval("SELECT $1::uuid", u)), str(u))
    check.same("regclass", await conn.fetchval("SELECT 'pg_class'::regclass::oid"), 1259)
    # A type that the driver does not know makes it read pg_type, with a recursive query.
    check.same("type jsonb[]", await conn.fetchval("SELECT ARRAY['1'::jsonb, NULL]"), ["1", None])


async def statements(conn):
    await conn.execute("CREATE TABLE ap (id int PRIMARY KEY, name text, price numeric(8,2)); INSERT INTO ap VALUES (0, 'zero', 0)")
    await conn.executemany("INSERT INTO ap VALUES ($1, $2, $3)", [(i, f"n{i}", decimal.Decimal(i) / 4) for i in range(1, 300)])
    check.same("executemany", await conn.fetchval("SELECT count(*) FROM ap"), 300)
    st = await conn.prepare("SELECT id, name FROM ap WHERE id = ANY($1::int4[]) ORDER BY id")
    check.same("prepared", [tuple(r) for r in await st.fetch([3, 1])], [(1, "n1"), (3, "n3")])
    check.same("its parameters and columns", ([p.name for p in st.get_parameters()], [a.name for a in st.get_attributes()]), (["int4[]"], ["id", "name"]))
    check.same("status", await conn.execute("UPDATE ap SET name = 'x' WHERE id < 3"), "UPDATE 3")
    async with conn.transaction():
        try:
            async with conn.transaction():
                await conn.execute("INSERT INTO ap VALUES (1, 'again', 0)")
        except asyncpg.UniqueViolationError as e:
            check.same("nested transaction", (e.sqlstate, e.constraint_name or "ap_pkey"), ("23505", "ap_pkey"))
        cur = await conn.cursor("SELECT id FROM ap ORDER BY id")
        await cur.forward(10)
        check.same("cursor", [r["id"] for r in await cur.fetch(3)], [10, 11, 12])
        check.same("iteration", sum([r["id"] async for r in conn.cursor("SELECT id FROM ap", prefetch=7)]), sum(range(300)))


async def copies(conn):
    await conn.execute("CREATE STREAM aps (id bigint, k text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 2, partition_key = 'k', dedup_key = 'k,id')")
    await conn.execute("CREATE CONTINUOUS VIEW apv AS SELECT k, count(*) AS n FROM aps GROUP BY k")
    at = datetime.datetime(2024, 1, 1, tzinfo=UTC)
    status = await conn.copy_records_to_table("aps", records=[(i, f"k{i % 3}", at) for i in range(600)], columns=["id", "k", "at"])
    check.same("copy_records_to_table", status, "COPY 600")
    check.same("view", [tuple(r) for r in await conn.fetch("SELECT k, n FROM apv ORDER BY k")], [("k0", 200), ("k1", 200), ("k2", 200)])
    out = bytearray()

    async def write(data):
        out.extend(data)

    await conn.copy_from_query("SELECT id, name FROM ap WHERE id < $1 ORDER BY id", 2, output=write, format="csv")
    check.same("copy_from_query", bytes(out), b"0,x\n1,x\n")


async def sessions(conn, dsn):
    told = asyncio.Queue()
    await conn.add_listener("news", lambda c, pid, channel, payload: told.put_nowait((channel, payload)))
    async with asyncpg.create_pool(dsn, min_size=2, max_size=4) as pool:
        await pool.execute("SELECT pg_notify('news', 'hello')")
        check.same("LISTEN/NOTIFY", await asyncio.wait_for(told.get(), 10), ("news", "hello"))
        check.same("pool", sorted(await asyncio.gather(*[pool.fetchval("SELECT $1::int", i) for i in range(20)])), list(range(20)))
    await conn.reset()
    try:
        await conn.execute("SELECT pg_sleep(30)", timeout=0.3)
        check.same("timeout", "none", "cancelled")
    except asyncio.TimeoutError:
        check.same("timeout", await conn.fetchval("SELECT 1"), 1)
    try:
        await conn.execute("SELECT 1/0")
    except asyncpg.DivisionByZeroError as e:
        check.same("error", e.sqlstate, "22012")


async def main():
    dsn = sys.argv[1]
    conn = await asyncpg.connect(dsn)
    check.same("server version", conn.get_server_version().major, 15)
    for name, part in (("types", types), ("statements", statements), ("copies", copies)):
        try:
            await part(conn)
        except Exception as e:
            check.same(name, repr(e), "no exception")
    try:
        await sessions(conn, dsn)
    except Exception as e:
        check.same("sessions", repr(e), "no exception")
    await conn.close()
    check.end()


asyncio.run(main())
