#!/usr/bin/env bash
# Real clients against a server, unmodified: run.sh [--record] [PART...]
#
# A part is a file of e2e/parts; without names, all. What the parts need is
# installed (as root on Debian 12; drivers from their registries, in pinned
# versions); what cannot be had is a failure, not a skip. --record writes the table
# of docs/clients.md; without, a run of all parts checks it. The last line is
# "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
. e2e/lib.sh
all="psql access pgbench jdbc python odbc node postgres superset"
record=
[ "${1:-}" != --record ] || { record=1; shift; }
parts=${*:-$all}
table=
dir=$(mktemp -d)
chmod 755 "$dir" # a real PostgreSQL runs as another user
server=
postgres=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	[ -z "$postgres" ] || $postgres -m immediate stop >/dev/null 2>&1
	wait 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
[ -x bin/tally ] || make build >&2
command -v psql >/dev/null || install postgresql-client-15
if ! command -v psql >/dev/null; then
	bad "psql is installed"
elif ! start; then
	bad "the server starts"
else
	# The relations that the parts read
	same "schema" "$(q -q -f e2e/schema.sql | grep -vE 'NOTICE:|^(DETAIL|HINT):')" ""
	for i in $(seq 1 400); do
		echo "$i,$([ $((i % 2)) = 0 ] && echo AA || echo UA),O$((i % 7)),$((i % 10)).5,2024-01-01 0$((i / 100)):00:00Z"
	done >"$dir/flights.csv"
	same "data" "$(q -c "\\copy flights FROM '$dir/flights.csv' CSV")" "COPY 400"
	section_passed=0
	for part in $parts; do
		began=$SECONDS
		. "e2e/parts/$part.sh"
		echo "# $part: $((SECONDS - began)) s"
	done
	if [ -n "$server" ]; then
		stop
		same "the server ends with status 0" $? 0
	fi
fi
doc=docs/clients.md
begin='<!-- written by make e2e-record: begin -->'
end='<!-- written by make e2e-record: end -->'
written=$(sed -n "/^$begin\$/,/^$end\$/p" $doc | sed '1d;$d')
table="| tool | version | what was tried | checks |"$'\n'"|---|---|---|---|"$'\n'"$table"
if [ -n "$record" ]; then
	{ sed "/^$begin\$/q" $doc; printf %s "$table"; sed -n "/^$end\$/,\$p" $doc; } >"$dir/doc" && cp "$dir/doc" $doc
elif [ "$parts" = "$all" ] && [ "$failed" = 0 ]; then
	same "docs/clients.md says what was tried" "$written" "${table%$'\n'}"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
