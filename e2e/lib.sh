# What the parts of run.sh share. Sourced, in the root of the repository.

passed=0
failed=0
section_passed=0
section_failed=0
ok() { passed=$((passed + 1)); section_passed=$((section_passed + 1)); echo "ok   $1"; }
bad() { failed=$((failed + 1)); section_failed=$((section_failed + 1)); echo "FAIL $1"; [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/     /'; }
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
# counted NAME COMMAND...: a program that prints a line "ok" or "FAIL" a check, and
# whose status says whether all is well.
counted() {
	local name=$1 out status n m
	shift
	out=$("$@" 2>"$dir/stderr")
	status=$?
	echo "$out"
	n=$(grep -c '^ok' <<<"$out")
	m=$(grep -c '^FAIL' <<<"$out")
	passed=$((passed + n)) section_passed=$((section_passed + n))
	failed=$((failed + m)) section_failed=$((section_failed + m))
	if [ "$n" = 0 ] || { [ "$status" != 0 ] && [ "$m" = 0 ]; }; then
		bad "$name: the program ends with status $status" "$(tail -20 "$dir/stderr")"
	fi
}
# install PACKAGE...: from Debian, as root
install() {
	[ -n "${updated:-}" ] || apt-get update -qq
	updated=1
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
# tried TOOL VERSION WHAT: ends a tool's checks; a row of the table in docs/clients.md
tried() {
	table+="| $1 | $2 | $3 | $section_passed |"$'\n'
	section_passed=0 section_failed=0
}

# What was installed before is kept here; each set of pinned versions has a place
# of its own.
cache=${E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tally-e2e}
# python REQUIREMENTS: makes an environment of these versions; $python is its python
python() {
	local place
	command -v python3 >/dev/null || install python3 python3-venv
	place=$cache/python-$(cat "$1" <(python3 --version) | sha256sum | cut -c1-12)
	python=$place/bin/python
	[ ! -f "$place/complete" ] || return 0
	rm -rf "$place"
	python3 -m venv "$place" && "$place/bin/pip" -q install --no-deps -r "$1" && touch "$place/complete"
}
# pinned REQUIREMENTS PACKAGE: its version
pinned() { sed -n "s/^$2==//Ip" "$1"; }

# start FLAG...: starts the server on ports that the system picks; sets $server,
# $port and $uri
start() {
	: >"$dir/ready"
	bin/tally serve --data "${data:-$dir/data}" --pg-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --log-level warn "$@" >"$dir/ready" &
	server=$!
	for _ in $(seq 300); do
		grep -q '^ready' "$dir/ready" && break
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	port=$(sed -n 's/^ready pg=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$dir/ready")
	uri=postgres://tally@127.0.0.1:$port/tally
	[ -n "$port" ]
}
# stop: ends it; its status
stop() {
	kill "$server"
	wait "$server"
	local status=$?
	server=
	return $status
}
q() { psql -X -h 127.0.0.1 -p "$port" -U tally -d tally -v ON_ERROR_STOP=1 "$@" 2>&1; }
