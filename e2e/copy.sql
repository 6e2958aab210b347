-- COPY with its options, right and wrong. Run by e2e/parts/postgres.sh against TallyDB and
-- PostgreSQL 15; what they print has to be the same.
\set VERBOSITY verbose
\pset null '<NULL>'
DROP TABLE IF EXISTS ct;
CREATE TABLE ct (a int, b text, c numeric(6,2), d bytea, e text[]);
COPY ct FROM STDIN;
1	one	1.5	\\x00ff	{a,"b c",NULL}
2	\N	\N	\N	\N
3	tab\there\\n\nx	-2	\\x	{}
\.
SELECT * FROM ct ORDER BY a;
COPY ct TO STDOUT;
COPY ct TO STDOUT (FORMAT csv, HEADER);
COPY ct TO STDOUT (FORMAT csv, HEADER false, NULL 'null', DELIMITER ';', QUOTE '''', ESCAPE '\', FORCE_QUOTE (a, b));
COPY ct TO STDOUT (FORMAT csv, FORCE_QUOTE *);
COPY ct (b, a) TO STDOUT CSV HEADER;
COPY ct TO STDOUT WITH DELIMITER AS '|' NULL AS '';
COPY ct TO STDOUT WITH CSV FORCE QUOTE a;
COPY (SELECT a, b FROM ct ORDER BY a DESC) TO STDOUT (HEADER);
COPY (VALUES (1, 'a,b'), (2, 'q"q'), (3, ''), (4, NULL)) TO STDOUT CSV;
COPY (DELETE FROM ct WHERE a = 3 RETURNING a, b) TO STDOUT;
COPY ct (a, b) FROM STDIN (FORMAT csv, HEADER);
x,y
10,"quoted, ""q"""
11,
12,""
\.
COPY ct (a, b) FROM STDIN (FORMAT csv, FORCE_NOT_NULL (b));
20,
\.
COPY ct (a, b) FROM STDIN (FORMAT csv, FORCE_NULL (b));
21,""
\.
COPY ct (a, b) FROM STDIN (FORMAT csv, NULL 'NA', DELIMITER '|', QUOTE '$', ESCAPE '$');
22|NA
23|$x|$$y$
\.
COPY ct (a, b) FROM STDIN (DELIMITER ',', NULL '-');
24,-
25,\-
\.
COPY ct (b, a) FROM STDIN (HEADER MATCH);
b	a
hm	30
\.
COPY ct (b, a) FROM STDIN (HEADER MATCH);
a	b
hm	30
\.
COPY ct (a, b) FROM STDIN WHERE a > 40 AND b LIKE 'k%';
39	kx
41	kx
42	zz
\.
SELECT a, b, b IS NULL FROM ct WHERE a >= 10 ORDER BY a;
COPY ct FROM STDIN;
1
\.
COPY ct (a) FROM STDIN;
1	2
\.
COPY ct (a) FROM STDIN;
x
\.
COPY ct (a, a) FROM STDIN;
COPY ct (nosuch) FROM STDIN;
COPY nosuch FROM STDIN;
COPY ct TO STDOUT (FORMAT xml);
COPY ct TO STDOUT (DELIMITER 'ab');
COPY ct TO STDOUT (DELIMITER E'\n');
COPY ct TO STDOUT (DELIMITER 'a');
COPY ct TO STDOUT (NULL E'a\nb');
COPY ct TO STDOUT (QUOTE 'x');
COPY ct TO STDOUT (FORMAT csv, QUOTE ',');
COPY ct TO STDOUT (FORMAT csv, QUOTE 'ab');
COPY ct TO STDOUT (FORMAT csv, ESCAPE 'ab');
COPY ct TO STDOUT (FORMAT binary, DELIMITER ',');
COPY ct TO STDOUT (FORMAT binary, NULL 'x');
COPY ct TO STDOUT (FORMAT binary, HEADER);
COPY ct TO STDOUT (FORCE_QUOTE (a));
COPY ct TO STDOUT (FORMAT csv, FORCE_NOT_NULL (a));
COPY ct FROM STDIN (FORMAT csv, FORCE_QUOTE (a));
COPY ct TO STDOUT (HEADER MATCH);
COPY ct TO STDOUT (HEADER, HEADER);
COPY ct TO STDOUT (nosuch 1);
COPY ct TO STDOUT (ENCODING 'UTF8');
COPY (SELECT 1 WHERE false) TO STDOUT CSV HEADER;
COPY (SELECT) TO STDOUT;
COPY ct (a, b) FROM STDIN CSV;
50,"unterminated
\.
COPY ct (a, b) FROM STDIN CSV;
51,"two
lines"
52,x"y"z
\.
COPY ct (a, b) FROM STDIN;
53	\x41\101\b\f\r\v\q
\.
SELECT a, b, encode(b::bytea, 'hex') FROM ct WHERE a > 50 ORDER BY a;
COPY ct (a,c) FROM STDIN;
60	12345.678
\.
DROP TABLE ct;
