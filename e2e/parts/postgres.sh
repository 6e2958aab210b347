# A real PostgreSQL 15, which reads our views through postgres_fdw, and to whose answers
# ours are compared.
bin=/usr/lib/postgresql/15/bin
[ -x $bin/initdb ] && [ -f /usr/share/postgresql/15/extension/postgres_fdw.control ] || install postgresql-15
if [ ! -x $bin/initdb ]; then
	bad "PostgreSQL 15 comes from Debian"
else
	mkdir -p "$dir/pg" && chown postgres "$dir/pg"
	as() { su postgres -s /bin/bash -c "$*"; }
	as $bin/initdb -D "$dir/pg/data" -U postgres --auth=trust --locale=C.UTF-8 -E UTF8 >/dev/null
	pg_port=54321
	while (exec 3<>/dev/tcp/127.0.0.1/$pg_port) 2>/dev/null; do pg_port=$((pg_port + 1)); done
	postgres="as $bin/pg_ctl -D $dir/pg/data"
	as $bin/pg_ctl -D "$dir/pg/data" -w -o "'-p $pg_port -k $dir/pg -c fsync=off -c timezone=UTC -c listen_addresses=127.0.0.1'" -l "$dir/pg/log" start >/dev/null
	p() { psql -X -qAt -h 127.0.0.1 -p "$pg_port" -U postgres -d postgres -v ON_ERROR_STOP=1 "$@" 2>&1; }
	same "postgres_fdw: IMPORT FOREIGN SCHEMA" "$(p <<SQL
CREATE EXTENSION postgres_fdw;
CREATE SERVER tally FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'tally');
CREATE USER MAPPING FOR CURRENT_USER SERVER tally OPTIONS (user 'tally');
CREATE SCHEMA remote;
IMPORT FOREIGN SCHEMA public LIMIT TO (flights, by_hour, carriers) FROM SERVER tally INTO remote;
SQL
	)" ""
	same "postgres_fdw: columns" "$(p -c "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'remote.by_hour'::regclass AND attnum BETWEEN 1 AND 6")" \
		"carrier text, window_start timestamp with time zone, n bigint, mean double precision, origins bigint, _status text"
	same "postgres_fdw: a view" "$(p -c 'SELECT carrier, sum(n), max(origins) FROM remote.by_hour GROUP BY carrier ORDER BY 1')" $'AA|200|7\nUA|200|7'
	same "postgres_fdw: a condition that is pushed down" "$(p -c "SELECT sum(n) FROM remote.by_hour WHERE carrier = 'AA' AND window_start >= '2024-01-01 01:00Z'")" 151
	same "postgres_fdw: a join" "$(p -c 'SELECT c.name, sum(h.n) FROM remote.by_hour h JOIN remote.carriers c ON c.code = h.carrier GROUP BY 1 ORDER BY 1')" $'American|200\nUnited|200'
	same "postgres_fdw: a stream" "$(p -c 'SELECT count(*), count(DISTINCT origin) FROM remote.flights')" "400|7"
	same "postgres_fdw: rows of a table" "$(p <<'SQL'
INSERT INTO remote.carriers VALUES ('DL', 'Delta'), ('B6', 'JetBlue');
UPDATE remote.carriers SET name = 'Delta Air Lines' WHERE code = 'DL';
DELETE FROM remote.carriers WHERE code = 'B6';
BEGIN;
INSERT INTO remote.carriers VALUES ('XX', 'x');
SAVEPOINT s;
INSERT INTO remote.carriers VALUES ('YY', 'y');
ROLLBACK TO s;
COMMIT;
SELECT * FROM remote.carriers ORDER BY code;
DELETE FROM remote.carriers WHERE code IN ('DL', 'XX');
SQL
	)" $'AA|American\nDL|Delta Air Lines\nUA|United\nXX|x'
	has "postgres_fdw: an error comes through" "$(p -c "INSERT INTO remote.carriers VALUES ('AA', 'again')")" 'duplicate key value violates unique constraint "carriers_pkey"'
	same "dblink and ANALYZE" "$(p -c 'ANALYZE remote.carriers' -c "SELECT count(*) > 0 FROM pg_stats WHERE schemaname = 'remote'")" t
	tried postgres_fdw "$($bin/postgres --version | grep -o '[0-9]*' | head -1)" '`IMPORT FOREIGN SCHEMA`, views, streams, pushed-down conditions, joins, INSERT, UPDATE, DELETE, subtransactions, ANALYZE'
	# The same script on both; of errors, their text is compared and not where they are
	# said to be, which TallyDB knows more often.
	answers() { grep -avE '^(LOCATION:|HINT:|LINE [0-9]+:) |^ +\^' | sed -E 's/^psql:[^ ]*: //'; }
	compared() {
		local ours theirs
		ours=$(psql -X -h 127.0.0.1 -p "$port" -U tally -d tally -f "$2" 2>&1 | answers)
		theirs=$(psql -X -h 127.0.0.1 -p "$pg_port" -U tally -d tally -f "$2" 2>&1 | answers)
		same "$1" "$(diff -a <(echo "$ours") <(echo "$theirs"))" ""
	}
	p -c 'CREATE ROLE tally SUPERUSER LOGIN' -c 'CREATE DATABASE tally OWNER tally' >/dev/null
	compared "COPY: $(grep -c '^COPY' e2e/copy.sql) statements answer as PostgreSQL's do" e2e/copy.sql
	compared "catalogs: $(grep -c '^SELECT' e2e/catalog.sql) queries answer as PostgreSQL's do" e2e/catalog.sql
	if python e2e/python/requirements.txt; then
		counted "binary forms" "$python" e2e/python/binary_forms.py "host=127.0.0.1 port=$port user=tally dbname=tally" "host=127.0.0.1 port=$pg_port user=tally dbname=tally"
	else
		bad "psycopg comes from PyPI"
	fi
	$postgres -m fast stop >/dev/null
	postgres=
fi
tried 'PostgreSQL itself' "$($bin/postgres --version | grep -o '[0-9]*' | head -1)" 'the same answers: COPY with its options, what the catalogs say of a table and a view, the binary form of every type'
