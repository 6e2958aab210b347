\set ON_ERROR_STOP 1
\pset pager off
CREATE STREAM flights (id bigint, carrier text, origin text, delay double precision, at timestamptz,
  WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 4, partition_key = 'carrier', dedup_key = 'id');
CREATE CONTINUOUS VIEW by_hour AS
  SELECT carrier, window_start, count(*) AS n, avg(delay) AS mean, approx_distinct(origin) AS origins
  FROM TUMBLE(flights, at, INTERVAL '1 hour') GROUP BY carrier, window_start;
CREATE TABLE carriers (code text PRIMARY KEY, name text NOT NULL);
INSERT INTO carriers VALUES ('AA', 'American'), ('UA', 'United');
