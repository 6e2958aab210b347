#!/usr/bin/env bash
# Real clients against a server: psql 15 and pgjdbc. Installs what it needs (as
# root on Debian 12, and the driver from Maven Central); what cannot be had is a
# failure, not a skip. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
JDBC_VERSION=42.7.11
passed=0
failed=0
ok() { passed=$((passed + 1)); echo "ok   $1"; }
bad() { failed=$((failed + 1)); echo "FAIL $1"; [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/     /'; }
# same NAME GOT WANT
same() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got:  $2
want: $3"; fi; }
# has NAME TEXT PART...
has() {
	local name=$1 text=$2 part
	shift 2
	for part; do
		if ! grep -qF -- "$part" <<<"$text"; then bad "$name" "no '$part' in:
$text"; return; fi
	done
	ok "$name"
}
install() {
	[ -n "${updated:-}" ] || apt-get update -qq
	updated=1
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
[ -x bin/tally ] || make build >&2
start() {
	: >"$dir/ready"
	bin/tally serve --data "$dir/data" --pg-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --log-level warn >"$dir/ready" &
	server=$!
	for _ in $(seq 300); do
		grep -q '^ready' "$dir/ready" && break
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	port=$(sed -n 's/^ready pg=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$dir/ready")
	[ -n "$port" ]
}
if ! start; then
	bad "the server starts"
	echo "$passed passed, $failed failed"
	exit 1
fi

# --- psql
command -v psql >/dev/null || install postgresql-client-15
q() { psql -X -h 127.0.0.1 -p "$port" -U tally -d tally -v ON_ERROR_STOP=1 "$@" 2>&1; }
if ! command -v psql >/dev/null; then
	bad "psql is installed"
else
	echo "# $(psql --version)"
	same "psql: a script" "$(q -q -f e2e/psql.sql | grep -vE 'NOTICE:|^(DETAIL|HINT):')" ""
	for i in $(seq 1 400); do
		echo "$i,$([ $((i % 2)) = 0 ] && echo AA || echo UA),O$((i % 7)),$((i % 10)).5,2024-01-01 0$((i / 100)):00:00Z"
	done >"$dir/flights.csv"
	same "psql: \\copy from" "$(q -c "\\copy flights FROM '$dir/flights.csv' CSV")" "COPY 400"
	q -c "\\copy flights FROM '$dir/flights.csv' CSV" >/dev/null
	same "psql: the same file again counts nothing" "$(q -Atc 'SELECT count(*) FROM flights')" 400
	same "psql: the view" "$(q -Atc 'SELECT sum(n), max(origins) FROM by_hour')" "400|7"
	same "psql: a join with a table" "$(q -Atc "SELECT name, sum(n) FROM by_hour JOIN carriers ON code = carrier GROUP BY name ORDER BY name")" $'American|200\nUnited|200'
	same "psql: \\copy to" "$(q -c "\\copy (SELECT code, name FROM carriers ORDER BY code) TO '$dir/out.csv' CSV HEADER"; cat "$dir/out.csv")" $'COPY 2\ncode,name\nAA,American\nUA,United'
	has "psql: \\d" "$(q -c '\d')" flights by_hour carriers
	has "psql: \\d carriers" "$(q -c '\d carriers')" 'Table "public.carriers"' "not null" carriers_pkey
	has "psql: \\d flights" "$(q -c '\d flights')" delay "double precision" "timestamp with time zone"
	has "psql: \\dt" "$(q -c '\dt')" carriers
	has "psql: \\dv" "$(q -c '\dv')" by_hour
	has "psql: \\l" "$(q -c '\l')" tally UTF8
	has "psql: \\dn" "$(q -c '\dn')" public
	has "psql: \\df" "$(q -c '\df approx*')" approx_distinct approx_quantile
	has "psql: \\du" "$(q -c '\du')" tally
	has "psql: EXPLAIN ANALYZE" "$(q -c 'EXPLAIN ANALYZE SELECT carrier, sum(n) FROM by_hour GROUP BY carrier')" "by_hour" "4 of 4 partitions" "Execution Time"
	has "psql: an error with its position" "$(q -c 'SELECT nosuch FROM carriers')" 'column "nosuch" does not exist' "LINE 1" "^"
	same "psql: \\gset and variables" "$(printf '%s\n' 'SELECT count(*) AS c FROM carriers \gset' '\echo :c' | q -q)" 2
	same "psql: a transaction" "$(q -qAtc "BEGIN; INSERT INTO carriers VALUES ('DL', 'Delta'); ROLLBACK; SELECT count(*) FROM carriers")" 2
	same "psql: FETCH_COUNT reads in parts" "$(q -At -v FETCH_COUNT=7 -c 'SELECT count(*) FROM flights' -c 'SELECT x FROM generate_series(1, 50) x' | tail -1)" 50
	q -c 'ALTER STREAM flights PARTITION 0 OFFLINE' >/dev/null
	has "psql: a partial result is refused" "$(q -c '\set VERBOSITY verbose' -c 'SELECT sum(n) FROM by_hour')" TY001
	q -c 'ALTER STREAM flights PARTITION 0 ONLINE' >/dev/null
	kill "$server"
	wait "$server"
	same "the server ends with status 0" $? 0
	if start; then
		same "psql: after a restart" "$(q -Atc 'SELECT sum(n) FROM by_hour')" 400
	else
		bad "the server starts again"
	fi
fi

# --- pgjdbc
command -v javac >/dev/null || install openjdk-17-jdk-headless
if ! command -v javac >/dev/null; then
	bad "Java is installed"
else
	jar=${PGJDBC_JAR:-$HOME/.m2/repository/org/postgresql/postgresql/$JDBC_VERSION/postgresql-$JDBC_VERSION.jar}
	if [ ! -f "$jar" ]; then
		command -v mvn >/dev/null || install maven
		(cd "$dir" && mvn -q -B dependency:get -Dartifact=org.postgresql:postgresql:$JDBC_VERSION) >"$dir/mvn.log" 2>&1 || tail -5 "$dir/mvn.log"
	fi
	if [ ! -f "$jar" ]; then
		bad "pgjdbc $JDBC_VERSION comes from Maven Central"
	elif ! javac -cp "$jar" -d "$dir" e2e/jdbc/Flow.java; then
		bad "pgjdbc: the program compiles"
	else
		echo "# pgjdbc $JDBC_VERSION on $(java -version 2>&1 | head -1)"
		out=$(java -cp "$jar:$dir" Flow "jdbc:postgresql://127.0.0.1:$port/tally?sslmode=disable" 2>&1)
		status=$?
		echo "$out"
		n=$(grep -c '^ok' <<<"$out")
		m=$(grep -c '^FAIL' <<<"$out")
		[ "$status" = 0 ] || [ "$m" != 0 ] || m=1
		passed=$((passed + n))
		failed=$((failed + m))
	fi
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
