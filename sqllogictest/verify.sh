#!/usr/bin/env bash
# Runs the SQL tests of testdata/pg against a real PostgreSQL 15: what they
# expect of TallyDB has to be what PostgreSQL does. Installs Debian's
# postgresql-15 if it is missing; runs as root. Arguments go to "tally slt",
# for example --rewrite.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=/usr/lib/postgresql/15/bin
if [ ! -x $bin/initdb ]; then
	echo "installing postgresql-15" >&2
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-15 >/dev/null
fi
[ -x bin/tally ] || make build >&2
dir=$(mktemp -d)
chown postgres "$dir"
as() { su postgres -s /bin/bash -c "$*"; }
trap 'as $bin/pg_ctl -D $dir/data -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
as $bin/initdb -D "$dir/data" -U tally --auth=trust --locale=C.UTF-8 -E UTF8 >"$dir/log"
port=54321
while (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do port=$((port + 1)); done
as $bin/pg_ctl -D "$dir/data" -w -o "'-p $port -k $dir -c fsync=off -c timezone=UTC -c listen_addresses=127.0.0.1'" -l "$dir/server.log" start >/dev/null
as $bin/createdb -h 127.0.0.1 -p $port -U tally tally
bin/tally slt --quiet --engine postgresql --connect "postgres://tally@127.0.0.1:$port/tally?sslmode=disable" "$@" sqllogictest/testdata/pg
