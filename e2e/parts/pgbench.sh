# pgbench with a script of ours, in its three protocols.
if ! command -v pgbench >/dev/null && [ ! -x /usr/lib/postgresql/15/bin/pgbench ]; then
	install postgresql-contrib postgresql-client-15 postgresql-15
fi
pgbench=$(command -v pgbench || echo /usr/lib/postgresql/15/bin/pgbench)
q -q >/dev/null <<'SQL'
CREATE TABLE bench_accounts (id int PRIMARY KEY, balance bigint NOT NULL);
INSERT INTO bench_accounts SELECT i, 0 FROM generate_series(1, 100) AS i;
CREATE STREAM bench_events (id bigint, account int, n int, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')
  WITH (partitions = 2, partition_key = 'account', dedup_key = 'account,id');
CREATE CONTINUOUS VIEW bench_totals AS SELECT account, sum(n) AS n FROM bench_events GROUP BY account;
SQL
for mode in simple extended prepared; do
	has "pgbench: -M $mode" "$($pgbench -n -h 127.0.0.1 -p "$port" -U tally -M $mode -c 4 -j 2 -t 50 -f e2e/pgbench.sql tally 2>&1)" "actually processed: 200/200"
done
same "pgbench: every transaction counts once" "$(q -At -c 'SELECT sum(balance) FROM bench_accounts' -c 'SELECT sum(n) FROM bench_totals' | paste -sd' ')" "600 600"
tried pgbench "$($pgbench --version | grep -o '[0-9]*' | head -1)" '`-f` with a script of ours, `-M simple`, `extended`, `prepared`, four clients'
