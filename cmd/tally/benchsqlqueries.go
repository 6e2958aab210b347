package main

import "strings"

// sqlQuery is a query of "tally bench sql". It is read by three parsers.
type sqlQuery struct {
	name, sql string
	unordered bool
}

// onStream lets a query read the stream in place of the table.
func onStream(sql string) string {
	return strings.ReplaceAll(sql, "FROM flights", "FROM flights_stream")
}

// sqlQueries are filter, group by and order by at few and at many groups, then what
// else analysts ask. Every order is total, so that answers can be compared.
var sqlQueries = []sqlQuery{
	{name: "group_carrier", sql: `SELECT carrier, count(*) AS n, avg(delay_min) AS delay FROM flights
		WHERE delay_min > 15 GROUP BY carrier ORDER BY n DESC, carrier`},
	{name: "group_origin", sql: `SELECT origin, count(*) AS n, count(delay_min), sum(distance_mi), avg(delay_min), min(delay_min), max(delay_min) FROM flights
		WHERE distance_mi < 1000 GROUP BY origin ORDER BY n DESC, origin`},
	{name: "group_route", sql: `SELECT origin, destination, count(*) AS n, avg(delay_min) AS delay FROM flights
		WHERE delay_min IS NOT NULL GROUP BY origin, destination ORDER BY n DESC, origin, destination LIMIT 100`},
	{name: "group_tail", sql: `SELECT tail, count(*) AS n, sum(distance_mi) AS miles FROM flights
		WHERE distance_mi >= 200 GROUP BY tail ORDER BY miles DESC, tail LIMIT 100`},
	{name: "group_tail_day", sql: `SELECT tail, date_trunc('day', event_time) AS day, count(*) AS n, max(delay_min) AS delay FROM flights
		WHERE delay_min > -30 GROUP BY tail, day ORDER BY n DESC, tail, day LIMIT 100`},
	{name: "group_seq", sql: `SELECT seq % 750000 AS k, sum(distance_mi) AS miles FROM flights
		WHERE distance_mi > 100 GROUP BY k ORDER BY miles DESC, k LIMIT 100`},
	{name: "date_day", sql: `SELECT date_trunc('day', event_time) AS day, count(*), avg(delay_min) FROM flights
		WHERE origin = 'ORD' OR destination = 'ORD' GROUP BY day ORDER BY day`},
	{name: "date_hour", sql: `SELECT date_trunc('hour', event_time) AS hour, carrier, count(*) AS n, sum(delay_min) FROM flights
		WHERE distance_mi > 500 GROUP BY hour, carrier ORDER BY hour, carrier LIMIT 500`},
	{name: "having", sql: `SELECT destination, carrier, count(*) AS n, avg(distance_mi) FROM flights
		GROUP BY destination, carrier HAVING avg(delay_min) > 12 AND count(*) > 1000 ORDER BY n DESC, destination, carrier`},
	{name: "like", sql: `SELECT origin, count(*) AS n FROM flights WHERE tail LIKE '%21%' AND destination NOT LIKE 'S%' GROUP BY origin ORDER BY n DESC, origin`},
	{name: "distinct", sql: `SELECT count(*) FROM (SELECT DISTINCT carrier, origin, destination FROM flights WHERE delay_min > 0) AS d`},
	{name: "count_distinct", sql: `SELECT carrier, count(DISTINCT tail), count(DISTINCT destination) FROM flights GROUP BY carrier ORDER BY carrier`},
	{name: "top_n", sql: `SELECT seq, origin, destination, delay_min FROM flights WHERE delay_min IS NOT NULL ORDER BY delay_min DESC, seq LIMIT 100`},
	{name: "join_small", sql: `SELECT a.region, count(*) AS n, sum(f.distance_mi * a.runways) AS s FROM flights AS f JOIN airports AS a ON f.destination = a.code
		WHERE f.delay_min > 0 GROUP BY a.region ORDER BY a.region`},
	{name: "join_large", sql: `SELECT f.carrier, count(*) AS n, sum(g.delay_min) AS s FROM flights AS f JOIN flights AS g ON g.seq = f.seq + 1
		WHERE f.delay_min > 60 GROUP BY f.carrier ORDER BY f.carrier`},
	{name: "exists_large", sql: `SELECT count(*), sum(distance_mi) FROM flights AS f
		WHERE EXISTS (SELECT 1 FROM flights AS g WHERE g.seq = f.seq + 1 AND g.delay_min > 60)`},
	{name: "in_subquery", sql: `SELECT destination, count(*) AS n FROM flights
		WHERE origin IN (SELECT code FROM airports WHERE runways > 4) GROUP BY destination ORDER BY n DESC, destination LIMIT 50`},
	{name: "window_groups", sql: `SELECT origin, carrier, n FROM (SELECT origin, carrier, n, rank() OVER (PARTITION BY origin ORDER BY n DESC, carrier) AS r
		FROM (SELECT origin, carrier, count(*) AS n FROM flights GROUP BY origin, carrier) AS g) AS w WHERE r <= 2 ORDER BY origin, r`},
	{name: "window_rows", sql: `SELECT count(*), sum(miles) FROM (SELECT distance_mi AS miles, row_number() OVER (PARTITION BY tail ORDER BY event_time, seq) AS r
		FROM flights WHERE delay_min > 5) AS w WHERE r <= 10`},
	{name: "sort_keys", sql: `SELECT origin, destination, delay_min, seq FROM flights WHERE delay_min IS NOT NULL
		ORDER BY origin, destination DESC, delay_min, seq LIMIT 10 OFFSET 1000000`},
}
