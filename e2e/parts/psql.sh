# psql: scripts, \copy, the commands that describe objects, errors, partial results.
echo "# $(psql --version)"
q -c "\\copy flights FROM '$dir/flights.csv' CSV" >/dev/null
same "psql: the same file again counts nothing" "$(q -Atc 'SELECT count(*) FROM flights')" 400
same "psql: the view" "$(q -Atc 'SELECT sum(n), max(origins) FROM by_hour')" "400|7"
same "psql: a join with a table" "$(q -Atc "SELECT name, sum(n) FROM by_hour JOIN carriers ON code = carrier GROUP BY name ORDER BY name")" $'American|200\nUnited|200'
same "psql: \\copy to" "$(q -c "\\copy (SELECT code, name FROM carriers ORDER BY code) TO '$dir/out.csv' CSV HEADER"; cat "$dir/out.csv")" $'COPY 2\ncode,name\nAA,American\nUA,United'
has "psql: \\d" "$(q -c '\d')" flights by_hour carriers
has "psql: \\d carriers" "$(q -c '\d carriers')" 'Table "public.carriers"' "not null" carriers_pkey
has "psql: \\d flights" "$(q -c '\d flights')" delay "double precision" "timestamp with time zone"
has "psql: \\d+ by_hour" "$(q -c '\d+ by_hour')" 'View "public.by_hour"' "View definition" TUMBLE
has "psql: \\dt" "$(q -c '\dt')" carriers
has "psql: \\dv" "$(q -c '\dv')" by_hour
has "psql: \\di" "$(q -c '\di')" carriers_pkey
has "psql: \\l" "$(q -c '\l')" tally UTF8
has "psql: \\dn" "$(q -c '\dn')" public
has "psql: \\df" "$(q -c '\df approx*')" approx_distinct approx_quantile
has "psql: \\dT" "$(q -c '\dT timestamp*')" 'timestamp with time zone'
has "psql: \\du" "$(q -c '\du')" tally Superuser
has "psql: \\dconfig" "$(q -c 'SHOW ALL')" partial_results
# Of what does not exist here, the lists are empty and no errors.
quiet=
for command in dm ds dE dP dX dx dy db dc dC dD ddp des deu dew det dFp dF dL dO dp drds dRp dRs da do dA dAc dAf dl; do
	out=$(q -c "\\$command")
	! grep -q ERROR <<<"$out" || quiet+="\\$command: $out"$'\n'
done
same "psql: the other \\d commands have no errors" "$quiet" ""
has "psql: EXPLAIN ANALYZE" "$(q -c 'EXPLAIN ANALYZE SELECT carrier, sum(n) FROM by_hour GROUP BY carrier')" "by_hour" "4 of 4 partitions" "Execution Time"
has "psql: an error with its position" "$(q -c 'SELECT nosuch FROM carriers')" 'column "nosuch" does not exist' "LINE 1" "^"
same "psql: \\gset and variables" "$(printf '%s\n' 'SELECT count(*) AS c FROM carriers \gset' '\echo :c' | q -q)" 2
same "psql: \\gdesc" "$(printf '%s\n' "SELECT carrier, n FROM by_hour \\gdesc" | q -qAt)" $'carrier|text\nn|bigint'
has "psql: \\crosstabview" "$(printf '%s\n' "SELECT carrier, date_part('hour', window_start), n FROM by_hour ORDER BY 1, 2 \\crosstabview" | q -qAt)" "AA|49|50|50|50|1"
same "psql: a transaction" "$(q -qAtc "BEGIN; INSERT INTO carriers VALUES ('DL', 'Delta'); ROLLBACK; SELECT count(*) FROM carriers")" 2
same "psql: ON_ERROR_ROLLBACK" "$(printf '%s\n' '\set ON_ERROR_STOP 0' '\set ON_ERROR_ROLLBACK on' 'BEGIN;' "INSERT INTO carriers VALUES ('DL', 'Delta');" 'SELECT 1/0;' 'SELECT count(*) FROM carriers;' 'ROLLBACK;' | q -qAt | tail -1)" 3
same "psql: FETCH_COUNT reads in parts" "$(q -At -v FETCH_COUNT=7 -c 'SELECT count(*) FROM flights' -c 'SELECT x FROM generate_series(1, 50) x' | tail -1)" 50
has "psql: LISTEN" "$(printf '%s\n' 'LISTEN news;' "NOTIFY news, 'hello';" | q -q)" 'Asynchronous notification "news" with payload "hello"'
q -c 'ALTER STREAM flights PARTITION 0 OFFLINE' >/dev/null
has "psql: a partial result is refused" "$(q -c '\set VERBOSITY verbose' -c 'SELECT sum(n) FROM by_hour')" TY001
q -c 'ALTER STREAM flights PARTITION 0 ONLINE' >/dev/null
stop
same "psql: the server ends with status 0" $? 0
if start; then
	same "psql: after a restart" "$(q -Atc 'SELECT sum(n) FROM by_hour')" 400
else
	bad "the server starts again"
fi
tried psql "$(psql --version | grep -o '[0-9]*' | head -1)" 'scripts, `\copy`, all `\d` commands, `\gset`, `\gdesc`, `\crosstabview`, ON_ERROR_ROLLBACK, FETCH_COUNT, LISTEN, a restart'
