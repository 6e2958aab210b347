#!/usr/bin/env bash
# Analytic queries on 3,000,000 flights in a table and in a stream of TallyDB, in
# PostgreSQL 15 and in DuckDB on one thread, all in one run on this machine; the
# answers must be equal. Arguments go to "tally bench sql", for example --queries.
# Installs Debian's postgresql-15 if it is missing (as root), and DuckDB from PyPI into
# a folder of its own. BENCH_DIR keeps the data for the next run.
set -euo pipefail
cd "$(dirname "$0")/../.."
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
if [ ! -x "$PGBIN/initdb" ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-15 >/dev/null
fi
[ -x bin/tally ] || make -s build
dir=${BENCH_DIR:-$(mktemp -d)}
mkdir -p "$dir"
chmod 755 "$dir"
[ -x "$dir/duckdb/bin/python" ] || { python3 -m venv "$dir/duckdb" && "$dir/duckdb/bin/pip" install -q duckdb==2.0.1; }
as() { su postgres -s /bin/bash -c "$*"; }
postgres=
cleanup() {
	if [ -n "$postgres" ]; then
		as "$PGBIN/pg_ctl -D $dir/pg -m fast stop" >/dev/null 2>&1 || true
		wait "$postgres" || true
	fi
	[ -n "${BENCH_DIR:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
if [ ! -d "$dir/pg" ]; then
	install -d -o postgres "$dir/pg"
	as "$PGBIN/initdb -D $dir/pg -U tally --auth=trust -E UTF8 --locale=C.UTF-8" >/dev/null
fi
port=54500
while (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do port=$((port + 1)); done
as "exec $PGBIN/postgres -D $dir/pg -p $port -k $dir/pg -c listen_addresses=127.0.0.1 -c shared_buffers=2GB -c max_wal_size=8GB" >"$dir/pg.log" 2>&1 &
postgres=$!
until "$PGBIN/pg_isready" -q -h 127.0.0.1 -p $port; do
	kill -0 "$postgres" || { cat "$dir/pg.log" >&2; exit 1; }
	read -rt 0.2 <> <(:) || true
done
echo "# $(date -u +%F), $(nproc) CPUs, $(go version | cut -d' ' -f3), $("$PGBIN/postgres" --version | sed 's/ (Debian.*//'), DuckDB $("$dir/duckdb/bin/python" -c 'import duckdb; print(duckdb.__version__)')"
echo "\$ docs/bench/sql.sh $*"
bin/tally bench sql --dir "$dir/data" --postgres "postgres://tally@127.0.0.1:$port/postgres?sslmode=disable" --duckdb "$dir/duckdb/bin/python" "$@"
