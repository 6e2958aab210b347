#!/usr/bin/env bash
# Measures ingest, queries and restarts on this machine, three times each, and
# prints the raw results with their commands. With POSTGRES=<connection string>
# it copies the same data into PostgreSQL in the same run.
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s build
echo "# $(date -u +%F), $(nproc) CPUs, $(go version)"
run() {
	echo
	echo "\$ bin/tally bench $*"
	for _ in 1 2 3; do bin/tally bench "$@"; done
}
run ingest --rows 10000000 --sketches=false
run ingest --rows 10000000 ${POSTGRES:+--postgres "$POSTGRES"}
run ingest --rows 3000000 --copy-rows 1000
run ingest --rows 3000000 --ids uuid --nulls 10 --escapes 1 --views 3
run query
run restart
echo
echo '$ go test ./stream -run xxx -bench Ingest -benchtime 60x'
go test ./stream -run xxx -bench Ingest -benchtime 60x | grep Benchmark
