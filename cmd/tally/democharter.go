package main

import (
	"context"
	"fmt"
	"reflect"
)

// charter is the six-event example over two partitions: A, B, A, C, A, D.
func (d *demo) charter(ctx context.Context) error {
	for _, sql := range []string{
		`CREATE STREAM letters (id bigint, letter text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')
WITH (partitions = 2, partition_key = 'letter', dedup_key = 'id')`,
		`CREATE CONTINUOUS VIEW tally AS SELECT letter, count(*) AS n FROM letters GROUP BY letter`,
		`CREATE CONTINUOUS VIEW total AS SELECT count(*) AS n, approx_distinct(letter) AS letters FROM letters`,
	} {
		if err := d.sql(ctx, sql); err != nil {
			return err
		}
	}
	insert := `INSERT INTO letters VALUES (1, 'A', '2026-01-01 00:00:01Z'), (2, 'B', '2026-01-01 00:00:02Z'), (3, 'A', '2026-01-01 00:00:03Z'),
(4, 'C', '2026-01-01 00:00:04Z'), (5, 'A', '2026-01-01 00:00:05Z'), (6, 'D', '2026-01-01 00:00:06Z')`
	if err := d.sql(ctx, insert); err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	if err := d.show(ctx, "SELECT * FROM tally ORDER BY letter"); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "Proofs:")
	if err := d.charterCounts(ctx, "six events"); err != nil {
		return err
	}
	if err := d.charterWithheld(ctx); err != nil {
		return err
	}
	if _, err := d.conn.Exec(ctx, insert); err != nil {
		return err
	}
	if err := d.charterCounts(ctx, "the same six sent again"); err != nil {
		return err
	}
	var distinct, lo, hi int64
	if err := d.conn.QueryRow(ctx, "SELECT letters, letters_lo, letters_hi FROM total").Scan(&distinct, &lo, &hi); err != nil {
		return err
	}
	d.prove(distinct == 4 && lo <= 4 && 4 <= hi, "the sketch beside its oracle: approx_distinct says %d in [%d, %d], there are 4", distinct, lo, hi)
	return d.charterRestart(ctx)
}

// charterCounts proves total 6 and A = 3.
func (d *demo) charterCounts(ctx context.Context, when string) error {
	total, err := d.count(ctx, "SELECT n FROM total")
	if err != nil {
		return err
	}
	a, err := d.count(ctx, "SELECT n FROM tally WHERE letter = 'A'")
	if err != nil {
		return err
	}
	d.prove(total == 6 && a == 3, "%s: total %d, A = %d", when, total, a)
	return nil
}

// charterWithheld takes each partition offline in turn.
func (d *demo) charterWithheld(ctx context.Context) error {
	for p := range 2 {
		if _, err := d.conn.Exec(ctx, fmt.Sprintf("ALTER STREAM letters PARTITION %d OFFLINE", p)); err != nil {
			return err
		}
		rows, err := d.table(ctx, "SELECT letter, n, _status, _coverage, _parts_done, _parts_expected FROM tally")
		if state, other := sqlState(err); other != nil {
			return other
		} else if state == "TY001" { // all letters are in the partition that is withheld
			rows = rows[:1]
		}
		labelled := 0
		for _, r := range rows[1:] {
			if r[2] == "partial" && r[4] == "1" && r[5] == "2" {
				labelled++
			}
		}
		bare, err := d.code(ctx, "SELECT sum(n) FROM tally")
		if err != nil {
			return err
		}
		d.prove(labelled == len(rows)-1 && bare == "TY001", "partition %d withheld: %d rows, all labelled partial; an unlabelled sum is refused (%s)", p, labelled, bare)
		if _, err := d.conn.Exec(ctx, fmt.Sprintf("ALTER STREAM letters PARTITION %d ONLINE", p)); err != nil {
			return err
		}
	}
	return nil
}

// charterRestart restores the checkpoint, once after SIGTERM and once after SIGKILL.
func (d *demo) charterRestart(ctx context.Context) error {
	const query = "SELECT letter, n, _status FROM tally ORDER BY letter"
	before, err := d.table(ctx, query)
	if err != nil {
		return err
	}
	for _, kill := range []bool{false, true} {
		if err := d.restart(ctx, kill); err != nil {
			return err
		}
		after, err := d.table(ctx, query)
		if err != nil {
			return err
		}
		how := map[bool]string{false: "a restart", true: "SIGKILL and a restart"}[kill]
		d.prove(reflect.DeepEqual(before, after), "%s: the checkpoint and the log give the same rows", how)
	}
	return nil
}
