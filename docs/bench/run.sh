#!/usr/bin/env bash
# Measures ingest, queries and restarts on this machine, three times each, and
# prints the raw results with their commands; with SOAK=10 also that many minutes
# at half rate. Runs PostgreSQL 15's COPY of the same data in the same runs, fsync
# on, if its programs are in PGBIN and this is root; its data directory is beside
# TallyDB's.
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s build
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
dir=$(mktemp -d)
as() { su postgres -s /bin/bash -c "$*"; }
postgres=
cleanup() {
	[ -z "$postgres" ] || as "$PGBIN/pg_ctl -D $dir/pg -m immediate stop" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap cleanup EXIT
start_postgres() {
	[ -x "$PGBIN/initdb" ] && [ "$(id -u)" = 0 ] || return 0
	chmod 755 "$dir"
	install -d -o postgres "$dir/pg"
	as "$PGBIN/initdb -D $dir/pg -U tally --auth=trust -E UTF8 --locale=C.UTF-8" >/dev/null
	port=54400
	while (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do port=$((port + 1)); done
	as "$PGBIN/pg_ctl -D $dir/pg -w -o '-p $port -k $dir/pg -c listen_addresses=127.0.0.1 -c shared_buffers=1GB -c max_wal_size=8GB' -l $dir/pg/log start" >/dev/null
	postgres="postgres://tally@127.0.0.1:$port/postgres?sslmode=disable"
}
echo "# $(date -u +%F), $(nproc) CPUs, $(go version)"
run() {
	echo
	echo "\$ bin/tally bench $*" | sed "s|--postgres [^ ]*|--postgres ...|"
	for _ in 1 2 3; do bin/tally bench "$@"; done
}
run query
run query --pace 25
run ingest --rows 10000000 --sketches=false
run ingest --rows 3000000 --copy-rows 1000 --connections 3
run ingest --rows 3000000 --ids uuid --nulls 10 --escapes 1 --views 3
run restart
start_postgres # last, because what it writes later would be in the way of others
run ingest --rows 10000000 ${postgres:+--postgres "$postgres"}
echo
echo '$ go test ./stream -run xxx -bench Ingest -benchtime 60x'
go test ./stream -run xxx -bench Ingest -benchtime 60x | grep Benchmark
if [ -n "${SOAK:-}" ]; then
	echo
	echo "\$ bin/tally bench soak --minutes $SOAK"
	bin/tally bench soak --minutes "$SOAK"
fi
