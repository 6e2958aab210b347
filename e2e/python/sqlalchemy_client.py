"""SQLAlchemy with psycopg 2 and 3: Core and ORM, savepoints, reflection of tables, streams and views; pandas.read_sql."""

import datetime
import decimal
import sys

import pandas
import sqlalchemy as sa
from sqlalchemy import orm

from check import Checks

UTC = datetime.timezone.utc


class Base(orm.DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "sa_items"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(40), nullable=False)
    price: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(8, 2), nullable=True)
    made: orm.Mapped[datetime.datetime] = orm.mapped_column(sa.DateTime(timezone=True), nullable=True)
    tags: orm.Mapped[list] = orm.mapped_column(sa.ARRAY(sa.Text), nullable=True)


def objects(check, engine):
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)  # asks whether they exist
    made = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    with orm.Session(engine) as s:
        s.add_all([Item(id=i, name=f"n{i}", price=decimal.Decimal(i) / 4, made=made, tags=["a", str(i)]) for i in range(50)])
        s.commit()
        try:
            with s.begin_nested():
                s.add(Item(id=1, name="again"))
                s.flush()
        except sa.exc.IntegrityError:
            check.same("a savepoint undoes a duplicate key", s.scalar(sa.select(sa.func.count()).select_from(Item)), 50)
        s.commit()
        item = s.get(Item, 7)
        check.same("ORM", (item.name, item.price, item.made.astimezone(UTC), item.tags), ("n7", decimal.Decimal("1.75"), made, ["a", "7"]))
        item.name = "seven"
        s.delete(s.get(Item, 8))
        s.commit()
        top = s.execute(sa.select(Item.name).where(Item.id.in_([6, 7, 8])).order_by(Item.id.desc())).scalars().all()
        check.same("update and delete", top, ["seven", "n6"])
        page = s.scalars(sa.select(Item.id).order_by(Item.id).limit(3).offset(10)).all()
        check.same("limit and offset", list(page), [11, 12, 13])
        rows = s.execute(sa.select(sa.func.date_trunc("hour", Item.made), sa.func.sum(Item.price)).group_by(sa.text("1"))).all()
        check.same("aggregate", [(r[0].astimezone(UTC), r[1]) for r in rows], [(made.replace(minute=0, second=0), decimal.Decimal("304.25"))])
    with engine.connect().execution_options(stream_results=True, max_row_buffer=10) as c:
        check.same("stream_results", sum(r.id for r in c.execute(sa.select(Item.id))), sum(range(50)) - 8)


def reflection(check, engine):
    with engine.begin() as c:
        c.exec_driver_sql("CREATE STREAM sa_s (id bigint NOT NULL, k varchar(10), v float8, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')"
                          " WITH (partitions = 2, partition_key = 'k', dedup_key = 'k,id')")
        c.exec_driver_sql("CREATE CONTINUOUS VIEW sa_v AS SELECT k, window_start, count(*) AS n, approx_quantile(v, 0.5) AS p50"
                          " FROM TUMBLE(sa_s, at, INTERVAL '1 hour') GROUP BY k, window_start")
    insp = sa.inspect(engine)
    check.same("get_schema_names", "public" in insp.get_schema_names() and "information_schema" in insp.get_schema_names(), True)
    names = set(insp.get_table_names())
    check.same("get_table_names", {"sa_items", "sa_s"} <= names and "sa_v" not in names, True)
    check.same("get_view_names", "sa_v" in insp.get_view_names(), True)
    check.same("has_table", (insp.has_table("sa_items"), insp.has_table("sa_v"), insp.has_table("nosuch")), (True, True, False))
    cols = {c["name"]: (str(c["type"]), c["nullable"]) for c in insp.get_columns("sa_items")}
    check.same("get_columns", cols, {"id": ("INTEGER", False), "name": ("VARCHAR(40)", False), "price": ("NUMERIC(8, 2)", True),
                                     "made": ("TIMESTAMP", True), "tags": ("ARRAY", True)})
    check.same("timezone", insp.get_columns("sa_items")[3]["type"].timezone, True)
    check.same("get_pk_constraint", insp.get_pk_constraint("sa_items")["constrained_columns"], ["id"])
    check.same("get_foreign_keys", insp.get_foreign_keys("sa_items"), [])
    check.same("get_indexes", insp.get_indexes("sa_items"), [])
    check.same("get_unique_constraints", insp.get_unique_constraints("sa_items"), [])
    check.same("get_check_constraints", insp.get_check_constraints("sa_items"), [])
    check.same("get_table_comment", insp.get_table_comment("sa_items"), {"text": None})
    check.same("get_sequence_names", insp.get_sequence_names(), [])
    check.same("get_enums", insp.get_enums(), [])
    check.same("get_view_definition", "count(*)" in insp.get_view_definition("sa_v").lower(), True)
    view = [c["name"] for c in insp.get_columns("sa_v")]
    check.same("columns of the view", view[:4], ["k", "window_start", "n", "p50"])
    meta = sa.MetaData()
    meta.reflect(engine, views=True)
    stream, view = meta.tables["sa_s"], meta.tables["sa_v"]
    check.same("reflect", [str(c.type) for c in stream.columns][:4], ["BIGINT", "VARCHAR(10)", "DOUBLE PRECISION", "TIMESTAMP"])
    at = datetime.datetime(2024, 1, 1, tzinfo=UTC)
    with engine.begin() as c:
        c.execute(sa.insert(stream), [{"id": i, "k": f"k{i % 2}", "v": float(i), "at": at + datetime.timedelta(minutes=i)} for i in range(60)])
    with engine.connect() as c:
        rows = c.execute(sa.select(view.c.k, view.c.n).order_by(view.c.k)).all()
        check.same("a reflected view", [tuple(r) for r in rows], [("k0", 30), ("k1", 30)])


def frames(check, engine):
    df = pandas.read_sql("SELECT k, n, p50, window_start FROM sa_v ORDER BY k", engine)
    check.same("read_sql", df["n"].tolist(), [30, 30])
    check.same("read_sql types", [df["n"].dtype.kind, df["p50"].dtype.kind, df["window_start"].dtype.kind], ["i", "f", "M"])
    df = pandas.read_sql_query(sa.text("SELECT id, price FROM sa_items WHERE id < :n ORDER BY id"), engine, params={"n": 3}, index_col="id")
    check.same("read_sql_query", [str(p) for p in df["price"]], ["0.0", "0.25", "0.5"])
    check.same("read_sql_table", len(pandas.read_sql_table("sa_items", engine)), 49)
    total = sum(len(part) for part in pandas.read_sql("SELECT * FROM sa_items", engine, chunksize=20))
    check.same("chunksize", total, 49)
    out = pandas.DataFrame({"a": [1, 2, 3], "b": [1.5, None, 2.5], "c": ["x", "y", None], "d": pandas.to_datetime(["2024-01-01"] * 3)})
    out.to_sql("sa_frame", engine, index=False, if_exists="replace")
    back = pandas.read_sql_table("sa_frame", engine)
    check.same("to_sql and back", (back["a"].tolist(), back["b"].fillna(-1).tolist(), back["d"].dt.year.tolist()), ([1, 2, 3], [1.5, -1.0, 2.5], [2024] * 3))
    out.to_sql("sa_frame", engine, index=False, if_exists="append", method="multi")
    check.same("append", int(pandas.read_sql("SELECT count(*) AS n FROM sa_frame", engine)["n"][0]), 6)


def main():
    host = sys.argv[1]  # tally@127.0.0.1:5432/tally
    failed = 0
    for driver in ("psycopg2", "psycopg"):
        check = Checks(f"SQLAlchemy+{driver}")
        engine = sa.create_engine(f"postgresql+{driver}://{host}")
        check.section("objects", objects, check, engine)
        check.section("reflection", reflection, check, engine)
        frame = Checks(f"pandas+{driver}")
        frame.section("frames", frames, frame, engine)
        with engine.begin() as c:
            for statement in ("DROP VIEW IF EXISTS sa_v", "DROP STREAM IF EXISTS sa_s", "DROP TABLE IF EXISTS sa_frame", "DROP TABLE IF EXISTS sa_items"):
                c.exec_driver_sql(statement)
        engine.dispose()
        failed += check.failed + frame.failed
    sys.exit(1 if failed else 0)


main()
