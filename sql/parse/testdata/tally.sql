-- TallyDB's own statements; PostgreSQL has no words for them.

-- @ stream
CREATE STREAM clicks (
  event_id uuid, gateway text, user_id text, campaign text, country text, latency_ms double precision, spend bigint,
  event_time timestamptz,
  WATERMARK FOR event_time AS event_time - INTERVAL '30 seconds'
) WITH (partitions = 8, partition_key = 'user_id', dedup_key = 'event_id', dedup_horizon = '10 minutes',
        source_key = 'gateway', idle_timeout = '10 seconds', max_future_skew = '5 minutes', retention = '7 days', kind = 'append')

-- @ describe aggregate
DESCRIBE AGGREGATE approx_distinct

-- @ stream with constraints
CREATE STREAM IF NOT EXISTS s."Clicks" (id int8 NOT NULL, k text, at timestamp DEFAULT '2020-01-01', PRIMARY KEY (k, id), CHECK (id > 0))

-- @ stream without columns
CREATE STREAM s ()

-- @ view
CREATE CONTINUOUS VIEW campaign_minute WITH (allowed_lateness = '10 minutes', early = '10 seconds') AS
SELECT campaign, country, window_start, window_end, count(*) AS clicks,
       approx_distinct(user_id) AS users, approx_quantile(latency_ms, 0.99) AS p99, approx_top_k(country, 5) AS top
FROM TUMBLE(clicks, event_time, INTERVAL '1 minute')
GROUP BY campaign, country, window_start, window_end

-- @ view by function
CREATE CONTINUOUS VIEW v (a, b) AS SELECT tumble(event_time, INTERVAL '1 minute') w, count(*) FROM clicks GROUP BY tumble(event_time, INTERVAL '1 minute')

-- @ hop, on close
CREATE CONTINUOUS VIEW IF NOT EXISTS v AS SELECT count(*) FROM HOP(clicks, event_time, INTERVAL '1 minute', INTERVAL '5 minutes') GROUP BY window_start EMIT ON WINDOW CLOSE

-- @ session, changes
CREATE OR REPLACE CONTINUOUS VIEW s.v AS SELECT user_id, count(*) FROM SESSION(clicks, event_time, INTERVAL '30 minutes') x GROUP BY user_id EMIT CHANGES

-- @ emit right behind the table
CREATE CONTINUOUS VIEW v AS SELECT * FROM clicks EMIT CHANGES

-- @ emit is a name elsewhere
SELECT emit, a emit FROM emit emit WHERE emit.changes

-- @ PipelineDB view
CREATE VIEW v WITH (action = materialize, sw = '1 hour', ttl = '1 day', ttl_column = 'ts') AS SELECT count(*), hll_agg(x) FROM s

-- @ sink
CREATE SINK out FROM campaign_minute INTO kafka (topic = 'x', brokers = 'a:9092,b:9092') WITH (format = json)

-- @ sink of a query
CREATE SINK IF NOT EXISTS out AS (SELECT a FROM v WHERE b > 1) INTO postgres (dsn = 'postgres://x', "table" = 't')

-- @ subscribe
SUBSCRIBE TO campaign_minute

-- @ subscribe to a query
SUBSCRIBE TO (SELECT * FROM campaign_minute WHERE campaign = $1) WITH (snapshot = true)

-- @ drops
DROP CONTINUOUS VIEW IF EXISTS a, s.b CASCADE

-- @ drop stream
DROP STREAM a, b

-- @ drop sink
DROP SINK IF EXISTS a

-- @ alter set
ALTER STREAM clicks SET (partitions = 16, retention = '30 days')

-- @ alter reset
ALTER STREAM IF EXISTS clicks RESET (retention)

-- @ alter offline
ALTER STREAM clicks PARTITION 3 OFFLINE

-- @ alter online
ALTER STREAM clicks PARTITION 3 ONLINE

-- @ alter add
ALTER STREAM clicks ADD COLUMN x jsonb DEFAULT '{}'

-- @ alter rename
ALTER STREAM clicks RENAME TO clicks2

-- @ view set
ALTER CONTINUOUS VIEW v SET (max_staleness = '1 minute')

-- @ view upgrade
ALTER CONTINUOUS VIEW v UPGRADE AS SELECT count(*), sum(x) FROM TUMBLE(s, t, INTERVAL '1 minute') GROUP BY window_start

-- @ view promote
ALTER CONTINUOUS VIEW v PROMOTE

-- @ view rollback
ALTER CONTINUOUS VIEW v ROLLBACK

-- @ show streams
SHOW STREAMS

-- @ show views
SHOW CONTINUOUS VIEWS

-- @ show guarantees
SHOW GUARANTEES FOR s.campaign_minute

-- @ show partitions
SHOW PARTITIONS FOR clicks

-- @ set envelope
SET envelope = off

-- @ side relations
SELECT * FROM clicks__rejected NATURAL JOIN "campaign_minute__late" WHERE _status = 'complete' AND _coverage < 1

-- @ combine
SELECT campaign, combine(users), combine(p99) FROM campaign_minute GROUP BY campaign

-- @ comment
COMMENT ON CONTINUOUS VIEW v IS 'it''s'

-- @ explain a view
EXPLAIN (VERBOSE) CREATE CONTINUOUS VIEW v AS SELECT count(*) FROM s
