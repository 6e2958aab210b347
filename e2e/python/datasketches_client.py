"""Apache DataSketches for Python, the C++ library: sketches that it made are read here and its are read from ours."""

import sys

import datasketches as ds
import psycopg2

from check import Checks

check = Checks("datasketches")


def near(what, got, want, share):
    check.same(f"{what}: within {share:.0%} of {want}", abs(got - want) <= share * want, True)


def read(cur, made, query, typ=None):
    """What a query makes of a sketch of the library's bytes."""
    arguments = (made, typ) if typ else (made,)
    cur.execute(f"SELECT {query} FROM (SELECT sketch_import(%s, 'datasketches'{', %s' if typ else ''}) AS s) t", arguments)
    return cur.fetchone()[0]


def written(cur, sketch):
    """The bytes of a sketch of ours."""
    cur.execute(f"SELECT sketch_export({sketch}, 'datasketches') FROM generate_series(1, 50000) g")
    return bytes(cur.fetchone()[0])


def hll(cur):
    for kind in (ds.HLL_4, ds.HLL_6, ds.HLL_8):
        for n in (0, 1, 100, 50000):
            theirs = ds.hll_sketch(12, kind)
            for i in range(n):
                theirs.update(i)
            near(f"HLL of {n}, {kind}, compact", read(cur, theirs.serialize_compact(), "hll_cardinality(s)"), n, 0.05)
            near(f"HLL of {n}, {kind}, updatable", read(cur, theirs.serialize_updatable(), "hll_cardinality(s)"), n, 0.05)
    near("HLL of ours", ds.hll_sketch.deserialize(written(cur, "hll_agg(g)")).get_estimate(), 50000, 0.05)
    merged = ds.hll_union(12)
    for shard in (0, 1):
        merged.update(ds.hll_sketch.deserialize(written(cur, f"hll_agg(g) FILTER (WHERE g % 2 = {shard})")))
    near("union of two of ours", merged.get_estimate(), 50000, 0.05)


def theta(cur):
    for n in (0, 1, 100, 50000):
        theirs = ds.update_theta_sketch(12)
        for i in range(n):
            theirs.update(i)
        near(f"theta of {n}", read(cur, theirs.compact().serialize(), "theta_estimate(s)"), n, 0.05)
        near(f"theta of {n}, compressed", read(cur, theirs.compact().serialize(compress=True), "theta_estimate(s)"), n, 0.05)
    parts = [ds.compact_theta_sketch.deserialize(written(cur, f"theta_agg(g) FILTER (WHERE g % 4 <> {k})")) for k in (0, 1)]
    near("theta of ours", parts[0].get_estimate(), 37500, 0.05)
    both = ds.theta_intersection()
    for p in parts:
        both.update(p)
    near("intersection of two of ours", both.get_result().get_estimate(), 25000, 0.1)


def kll(cur):
    for n in (0, 1, 100, 50000):
        theirs = ds.kll_doubles_sketch(200)
        for i in range(n):
            theirs.update((i * 7919) % n)
        made = theirs.serialize()
        check.same(f"KLL of {n}: its values", read(cur, made, "sketch_info(s)->'n'", "double precision"), n)
        if n:
            near(f"KLL of {n}: the median", read(cur, made, "sketch_quantile(s, 0.5)", "double precision"), theirs.get_quantile(0.5), 0.03)
    ours = ds.kll_doubles_sketch.deserialize(written(cur, "kll_agg(g::float8)"))
    check.same("KLL of ours: its values", ours.n, 50000)
    near("KLL of ours: the 90th percentile", ours.get_quantile(0.9), 45000, 0.03)
    check.same("KLL of ours: the extremes", (ours.get_min_value(), ours.get_max_value()), (1.0, 50000.0))


def frequent(cur):
    theirs = ds.frequent_strings_sketch(10)
    for i in range(50000):
        theirs.update(f"v{min(i % 1000, i % 7)}")
    check.same(
        "frequent items: a count", read(cur, theirs.serialize(), "frequent_count(s, 'v3')", "text"), theirs.get_upper_bound("v3"))
    ours = ds.frequent_strings_sketch.deserialize(written(cur, "frequent_agg('v' || least(g % 1000, g % 7))"))
    cur.execute("SELECT count(*) FROM generate_series(1, 50000) g WHERE least(g % 1000, g % 7) = 3")
    check.same("frequent items of ours: a count", ours.get_estimate("v3"), cur.fetchone()[0])
    check.same("frequent items of ours: the total", ours.total_weight, 50000)


def count_min(cur):
    theirs = ds.count_min_sketch(5, 272)
    for i in range(50000):
        theirs.update(i % 1000)
    made = theirs.serialize()
    check.same("Count-Min: its total", read(cur, made, "freq_total(s)"), 50000)
    back = ds.count_min_sketch.deserialize(bytes(read(cur, made, "sketch_export(freq_union(s, s), 'datasketches')")))
    check.same("Count-Min: merged with itself", back.get_estimate(7), 2 * theirs.get_estimate(7))
    check.raises("Count-Min: values are not looked up", psycopg2.Error, "0A000", lambda: read(cur, made, "freq(s, 7)"))


def main():
    conn = psycopg2.connect(sys.argv[1])
    conn.autocommit = True
    cur = conn.cursor()
    for part in (hll, theta, kll, frequent, count_min):
        check.section(part.__name__, part, cur)
    check.end()


main()
