# Python's drivers, and what is built on them
pins=e2e/python/requirements.txt
if ! python $pins; then
	bad "Python's drivers come from PyPI"
else
	run() { counted "$1" "$python" "e2e/python/$2" "$3"; }
	run psycopg2 psycopg2_client.py "host=127.0.0.1 port=$port user=tally dbname=tally"
	tried psycopg2 "$(pinned $pins psycopg2-binary)" 'types, transactions, savepoints, named, scrollable and held cursors, COPY, LISTEN, errors'
	run psycopg psycopg3_client.py "host=127.0.0.1 port=$port user=tally dbname=tally"
	tried 'psycopg 3' "$(pinned $pins psycopg)" 'types in text and binary both ways, nested transactions, pipelines, server cursors, COPY in text and binary, LISTEN, cancel'
	run SQLAlchemy sqlalchemy_client.py "tally@127.0.0.1:$port/tally"
	tried 'SQLAlchemy, pandas' "$(pinned $pins SQLAlchemy), $(pinned $pins pandas)" 'over psycopg2 and psycopg 3: ORM, savepoints, reflection of tables, streams and views, `read_sql`, `to_sql`'
	run 'Apache DataSketches' datasketches_client.py "host=127.0.0.1 port=$port user=tally dbname=tally"
	tried 'Apache DataSketches for Python' "$(pinned $pins datasketches)" 'HyperLogLog, theta, KLL, frequent items and Count-Min, read here and there'
	run asyncpg asyncpg_client.py "$uri"
	tried asyncpg "$(pinned $pins asyncpg)" 'types in binary, introspection of types, cursors, COPY in binary, pools, LISTEN, cancel'
fi
