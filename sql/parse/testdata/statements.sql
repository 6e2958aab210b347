-- Statements that PostgreSQL clients send (psql, pgjdbc, SQLAlchemy) and analytic SQL.
-- Each starts behind a line "-- @ name". The tests demand that every one parses and survives
-- a round trip; sql/parse/fidelity compares them with PostgreSQL's own parser.

-- @ psql/psql \d #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','v','m','S','f','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2

-- @ psql/psql \dt #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2

-- @ psql/psql \d t1 #1
SELECT c.oid,
  n.nspname,
  c.relname
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname OPERATOR(pg_catalog.~) '^(t1)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 2, 3

-- @ psql/psql \d t1 #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '16384'

-- @ psql/psql \d t1 #3
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '16384' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- @ psql/psql \d t1 #4
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
  pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
  LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
WHERE c.oid = '16384' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
ORDER BY i.indisprimary DESC, c2.relname

-- @ psql/psql \d t1 #5
SELECT true as sametable, conname,
  pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
  conrelid::pg_catalog.regclass AS ontable
FROM pg_catalog.pg_constraint r
WHERE r.conrelid = '16384' AND r.contype = 'f'
     AND conparentid = 0
ORDER BY conname

-- @ psql/psql \d t1 #6
SELECT conname, conrelid::pg_catalog.regclass AS ontable,
       pg_catalog.pg_get_constraintdef(oid, true) AS condef
  FROM pg_catalog.pg_constraint c
 WHERE confrelid IN (SELECT pg_catalog.pg_partition_ancestors('16384')
                     UNION ALL VALUES ('16384'::pg_catalog.regclass))
       AND contype = 'f' AND conparentid = 0
ORDER BY conname

-- @ psql/psql \d t1 #7
SELECT pol.polname, pol.polpermissive,
  CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where oid = any (pol.polroles) order by 1),',') END,
  pg_catalog.pg_get_expr(pol.polqual, pol.polrelid),
  pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid),
  CASE pol.polcmd
    WHEN 'r' THEN 'SELECT'
    WHEN 'a' THEN 'INSERT'
    WHEN 'w' THEN 'UPDATE'
    WHEN 'd' THEN 'DELETE'
    END AS cmd
FROM pg_catalog.pg_policy pol
WHERE pol.polrelid = '16384' ORDER BY 1

-- @ psql/psql \d t1 #8
SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
  'd' = any(stxkind) AS ndist_enabled,
  'f' = any(stxkind) AS deps_enabled,
  'm' = any(stxkind) AS mcv_enabled,
stxstattarget
FROM pg_catalog.pg_statistic_ext
WHERE stxrelid = '16384'
ORDER BY nsp, stxname

-- @ psql/psql \d t1 #9
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
     JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
WHERE pc.oid ='16384' and pg_catalog.pg_relation_is_publishable('16384')
UNION
SELECT pubname
     , pg_get_expr(pr.prqual, c.oid)
     , (CASE WHEN pr.prattrs IS NOT NULL THEN
         (SELECT string_agg(attname, ', ')
           FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,
                pg_catalog.pg_attribute
          WHERE attrelid = pr.prrelid AND attnum = prattrs[s])
        ELSE NULL END) FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
     JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid
WHERE pr.prrelid = '16384'
UNION
SELECT pubname
     , NULL
     , NULL
FROM pg_catalog.pg_publication p
WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16384')
ORDER BY 1

-- @ psql/psql \d t1 #10
SELECT t.tgname, pg_catalog.pg_get_triggerdef(t.oid, true), t.tgenabled, t.tgisinternal,
  CASE WHEN t.tgparentid != 0 THEN
    (SELECT u.tgrelid::pg_catalog.regclass
     FROM pg_catalog.pg_trigger AS u,
          pg_catalog.pg_partition_ancestors(t.tgrelid) WITH ORDINALITY AS a(relid, depth)
     WHERE u.tgname = t.tgname AND u.tgrelid = a.relid
           AND u.tgparentid = 0
     ORDER BY a.depth LIMIT 1)
  END AS parent
FROM pg_catalog.pg_trigger t
WHERE t.tgrelid = '16384' AND (NOT t.tgisinternal OR (t.tgisinternal AND t.tgenabled = 'D'))
ORDER BY 1

-- @ psql/psql \d t1 #11
SELECT c.oid::pg_catalog.regclass
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhparent AND i.inhrelid = '16384'
  AND c.relkind != 'p' AND c.relkind != 'I'
ORDER BY inhseqno

-- @ psql/psql \d t1 #12
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhrelid AND i.inhparent = '16384'
ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text

-- @ psql/psql \l #1
SELECT d.datname as "Name",
       pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
       pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",
       d.datcollate as "Collate",
       d.datctype as "Ctype",
       d.daticulocale as "ICU Locale",
       CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",
       pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges"
FROM pg_catalog.pg_database d
ORDER BY 1

-- @ psql/psql \df #1
SELECT n.nspname as "Schema",
  p.proname as "Name",
  pg_catalog.pg_get_function_result(p.oid) as "Result data type",
  pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
 CASE p.prokind
  WHEN 'a' THEN 'agg'
  WHEN 'w' THEN 'window'
  WHEN 'p' THEN 'proc'
  ELSE 'func'
 END as "Type"
FROM pg_catalog.pg_proc p
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE pg_catalog.pg_function_is_visible(p.oid)
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
ORDER BY 1, 2, 4

-- @ psql/psql \dn #1
SELECT n.nspname AS "Name",
  pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"
FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY 1

-- @ psql/psql \du #1
SELECT r.rolname, r.rolsuper, r.rolinherit,
  r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
  r.rolconnlimit, r.rolvaliduntil,
  ARRAY(SELECT b.rolname
        FROM pg_catalog.pg_auth_members m
        JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid)
        WHERE m.member = r.oid) as memberof
, r.rolreplication
, r.rolbypassrls
FROM pg_catalog.pg_roles r
WHERE r.rolname !~ '^pg_'
ORDER BY 1

-- @ psql/psql \dv #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2

-- @ psql/psql \di #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner",
  c2.relname as "Table"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
     LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
     LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
WHERE c.relkind IN ('i','I','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2

-- @ psql/psql \d+ t1 #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x from pg_catalog.unnest(tc.reloptions) x), ', ')
, c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '16384'

-- @ psql/psql \d+ t1 #3
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated,
  a.attstorage,
  a.attcompression AS attcompression,
  CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS attstattarget,
  pg_catalog.col_description(a.attrelid, a.attnum)
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '16384' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- @ psql/psql \dx #1
SELECT e.extname AS "Name", e.extversion AS "Version", n.nspname AS "Schema", c.description AS "Description"
FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_catalog.pg_description c ON c.objoid = e.oid AND c.classoid = 'pg_catalog.pg_extension'::pg_catalog.regclass
ORDER BY 1

-- @ psql/psql \dT #1
SELECT n.nspname as "Schema",
  pg_catalog.format_type(t.oid, NULL) AS "Name",
  pg_catalog.obj_description(t.oid, 'pg_type') as "Description"
FROM pg_catalog.pg_type t
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))
  AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid)
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_type_is_visible(t.oid)
ORDER BY 1, 2

-- @ psql/psql \dp #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",
  pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT attname || E':\n  ' || pg_catalog.array_to_string(attacl, E'\n  ')
    FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL
  ), E'\n') AS "Column privileges",
  pg_catalog.array_to_string(ARRAY(
    SELECT polname
    || CASE WHEN NOT polpermissive THEN
       E' (RESTRICTIVE)'
       ELSE '' END
    || CASE WHEN polcmd != '*' THEN
           E' (' || polcmd::pg_catalog.text || E'):'
       ELSE E':'
       END
    || CASE WHEN polqual IS NOT NULL THEN
           E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid)
       ELSE E''
       END
    || CASE WHEN polwithcheck IS NOT NULL THEN
           E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
       ELSE E''
       END    || CASE WHEN polroles <> '{0}' THEN
           E'\n  to: ' || pg_catalog.array_to_string(
               ARRAY(
                   SELECT rolname
                   FROM pg_catalog.pg_roles
                   WHERE oid = ANY (polroles)
                   ORDER BY 1
               ), E', ')
       ELSE E''
       END
    FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'\n')
    AS "Policies"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r','v','m','S','f','p')
  AND n.nspname !~ '^pg_' AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1, 2

-- @ psql/psql \db #1
SELECT spcname AS "Name",
  pg_catalog.pg_get_userbyid(spcowner) AS "Owner",
  pg_catalog.pg_tablespace_location(oid) AS "Location"
FROM pg_catalog.pg_tablespace
ORDER BY 1

-- @ psql/psql \df+ lower #1
SELECT n.nspname as "Schema",
  p.proname as "Name",
  pg_catalog.pg_get_function_result(p.oid) as "Result data type",
  pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
 CASE p.prokind
  WHEN 'a' THEN 'agg'
  WHEN 'w' THEN 'window'
  WHEN 'p' THEN 'proc'
  ELSE 'func'
 END as "Type",
 CASE
  WHEN p.provolatile = 'i' THEN 'immutable'
  WHEN p.provolatile = 's' THEN 'stable'
  WHEN p.provolatile = 'v' THEN 'volatile'
 END as "Volatility",
 CASE
  WHEN p.proparallel = 'r' THEN 'restricted'
  WHEN p.proparallel = 's' THEN 'safe'
  WHEN p.proparallel = 'u' THEN 'unsafe'
 END as "Parallel",
 pg_catalog.pg_get_userbyid(p.proowner) as "Owner",
 CASE WHEN prosecdef THEN 'definer' ELSE 'invoker' END AS "Security",
 pg_catalog.array_to_string(p.proacl, E'\n') AS "Access privileges",
 l.lanname as "Language",
 COALESCE(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) as "Source code",
 pg_catalog.obj_description(p.oid, 'pg_proc') as "Description"
FROM pg_catalog.pg_proc p
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
     LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE p.proname OPERATOR(pg_catalog.~) '^(lower)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_function_is_visible(p.oid)
ORDER BY 1, 2, 4

-- @ psql/psql \dt public.* #1
SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','t','s','')
  AND n.nspname OPERATOR(pg_catalog.~) '^(public)$' COLLATE pg_catalog.default
ORDER BY 1,2

-- @ psql/psql \sf lower #1
SELECT 'lower'::pg_catalog.regproc::pg_catalog.oid

-- @ psql/psql \dC #1
SELECT pg_catalog.format_type(castsource, NULL) AS "Source type",
       pg_catalog.format_type(casttarget, NULL) AS "Target type",
       CASE WHEN c.castmethod = 'b' THEN '(binary coercible)'
            WHEN c.castmethod = 'i' THEN '(with inout)'
            ELSE p.proname
       END AS "Function",
       CASE WHEN c.castcontext = 'e' THEN 'no'
            WHEN c.castcontext = 'a' THEN 'in assignment'
            ELSE 'yes'
       END AS "Implicit?"
FROM pg_catalog.pg_cast c LEFT JOIN pg_catalog.pg_proc p
     ON c.castfunc = p.oid
     LEFT JOIN pg_catalog.pg_type ts
     ON c.castsource = ts.oid
     LEFT JOIN pg_catalog.pg_namespace ns
     ON ns.oid = ts.typnamespace
     LEFT JOIN pg_catalog.pg_type tt
     ON c.casttarget = tt.oid
     LEFT JOIN pg_catalog.pg_namespace nt
     ON nt.oid = tt.typnamespace
WHERE ( (true  AND pg_catalog.pg_type_is_visible(ts.oid)
) OR (true  AND pg_catalog.pg_type_is_visible(tt.oid)
) )
ORDER BY 1, 2

-- @ jdbc/jdbc #1
SET extra_float_digits = 3

-- @ jdbc/jdbc #2
SET application_name = 'jdbcmeta'

-- @ jdbc/jdbc #3
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS TABLE_TYPE, d.description AS REMARKS,  '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'public' AND c.relname LIKE '%' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ) )  ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME

-- @ jdbc/jdbc #4
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS TABLE_TYPE, d.description AS REMARKS,  '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND c.relname LIKE '%' ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME

-- @ jdbc/jdbc #5
SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM pg_catalog.pg_namespace n  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)  JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog')  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped  AND n.nspname LIKE 'public' AND c.relname LIKE 't1') c WHERE true  AND attname LIKE '%' ORDER BY nspname,c.relname,attnum

-- @ jdbc/jdbc #6
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC

-- @ jdbc/jdbc #7
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1

-- @ jdbc/jdbc #8
SELECT        result.TABLE_CAT,        result.TABLE_SCHEM,        result.TABLE_NAME,        result.COLUMN_NAME,        result.KEY_SEQ,        result.PK_NAME FROM      (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,   (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,   information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true  AND n.nspname = 'public' AND ct.relname = 't1' AND i.indisprimary  ) result where  result.A_ATTNUM = (result.KEYS).x  ORDER BY result.table_name, result.pk_name, result.key_seq

-- @ jdbc/jdbc #9
SELECT     tmp.TABLE_CAT,     tmp.TABLE_SCHEM,     tmp.TABLE_NAME,     tmp.NON_UNIQUE,     tmp.INDEX_QUALIFIER,     tmp.INDEX_NAME,     tmp.TYPE,     tmp.ORDINAL_POSITION,     trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS COLUMN_NAME,   CASE tmp.AM_NAME     WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint       WHEN 1 THEN 'D'       ELSE 'A'     END     ELSE NULL   END AS ASC_OR_DESC,     tmp.CARDINALITY,     tmp.PAGES,     tmp.FILTER_CONDITION FROM (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, NOT i.indisunique AS NON_UNIQUE,   NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME,   CASE i.indisclustered     WHEN true THEN 1    ELSE CASE am.amname       WHEN 'hash' THEN 2      ELSE 3    END   END AS TYPE,   (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION,   ci.reltuples AS CARDINALITY,   ci.relpages AS PAGES,   pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION,   ci.oid AS CI_OID,   i.indoption AS I_INDOPTION,   am.amname AS AM_NAME FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)   JOIN pg_catalog.pg_am am ON (ci.relam = am.oid) WHERE true  AND n.nspname = 'public' AND ct.relname = 't1') AS tmp ORDER BY NON_UNIQUE, TYPE, INDEX_NAME, ORDINAL_POSITION

-- @ jdbc/jdbc #10
SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid)  WHERE n.nspname  != 'pg_toast' AND  (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))

-- @ jdbc/jdbc #11
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  ORDER BY sp.r, pg_type.oid DESC

-- @ jdbc/jdbc #12
SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace  WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_'  OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_'  OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))  ORDER BY TABLE_SCHEM

-- @ jdbc/jdbc #13
SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'

-- @ jdbc/jdbc #14
SELECT NULL::text AS PKTABLE_CAT, pkn.nspname AS PKTABLE_SCHEM, pkc.relname AS PKTABLE_NAME, pka.attname AS PKCOLUMN_NAME, NULL::text AS FKTABLE_CAT, fkn.nspname AS FKTABLE_SCHEM, fkc.relname AS FKTABLE_NAME, fka.attname AS FKCOLUMN_NAME, pos.n AS KEY_SEQ, CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS UPDATE_RULE, CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS DELETE_RULE, con.conname AS FK_NAME, pkic.relname AS PK_NAME, CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS DEFERRABILITY  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND fkn.nspname = 'public' AND fkc.relname = 't2' ORDER BY pkn.nspname,pkc.relname, con.conname,pos.n

-- @ jdbc/jdbc #15
SELECT NULL::text AS PKTABLE_CAT, pkn.nspname AS PKTABLE_SCHEM, pkc.relname AS PKTABLE_NAME, pka.attname AS PKCOLUMN_NAME, NULL::text AS FKTABLE_CAT, fkn.nspname AS FKTABLE_SCHEM, fkc.relname AS FKTABLE_NAME, fka.attname AS FKCOLUMN_NAME, pos.n AS KEY_SEQ, CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS UPDATE_RULE, CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS DELETE_RULE, con.conname AS FK_NAME, pkic.relname AS PK_NAME, CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS DEFERRABILITY  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND pkn.nspname = 'public' AND pkc.relname = 't1' ORDER BY fkn.nspname,fkc.relname,con.conname,pos.n

-- @ jdbc/jdbc #16
SELECT NULL AS PROCEDURE_CAT, n.nspname AS PROCEDURE_SCHEM, p.proname AS PROCEDURE_NAME, NULL, NULL, NULL, d.description AS REMARKS, 2 AS PROCEDURE_TYPE,  p.proname || '_' || p.oid AS SPECIFIC_NAME  FROM pg_catalog.pg_namespace n, pg_catalog.pg_proc p  LEFT JOIN pg_catalog.pg_description d ON (p.oid=d.objoid)  LEFT JOIN pg_catalog.pg_class c ON (d.classoid=c.oid AND c.relname='pg_proc')  LEFT JOIN pg_catalog.pg_namespace pn ON (c.relnamespace=pn.oid AND pn.nspname='pg_catalog')  WHERE p.pronamespace=n.oid  AND p.prokind='p' AND n.nspname LIKE 'public' AND p.proname LIKE '%' ORDER BY PROCEDURE_SCHEM, PROCEDURE_NAME, p.oid::text

-- @ jdbc/jdbc #17
SELECT current_database() AS FUNCTION_CAT, n.nspname AS FUNCTION_SCHEM, p.proname AS FUNCTION_NAME,  d.description AS REMARKS,  CASE    WHEN (format_type(p.prorettype, null) = 'unknown') THEN 0   WHEN      (substring(pg_get_function_result(p.oid) from 0 for 6) = 'TABLE') OR      (substring(pg_get_function_result(p.oid) from 0 for 6) = 'SETOF') THEN 2   ELSE 1 END  AS FUNCTION_TYPE,  p.proname || '_' || p.oid AS SPECIFIC_NAME FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON p.pronamespace=n.oid LEFT JOIN pg_catalog.pg_description d ON p.oid=d.objoid WHERE true   AND p.prokind='f' AND n.nspname LIKE 'pg_catalog' AND p.proname LIKE 'lower' ORDER BY FUNCTION_SCHEM, FUNCTION_NAME, p.oid::text

-- @ jdbc/jdbc #18
SELECT n.nspname,c.relname,r.rolname,c.relacl  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.relkind IN ('r','p','v','m','f')  AND n.nspname LIKE 'public' AND c.relname LIKE 't1' ORDER BY nspname, relname

-- @ jdbc/jdbc #19
SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN (SELECT i.indexrelid, i.indrelid, i.indisprimary,              information_schema._pg_expandarray(i.indkey) AS keys         FROM pg_catalog.pg_index i) i     ON (a.attnum = (i.keys).x AND a.attrelid = i.indrelid) WHERE true  AND n.nspname = 'public' AND ct.relname = 't1' AND i.indisprimary  ORDER BY a.attnum

-- @ jdbc/jdbc #20
select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,action,ada,add,admin,after,all,allocate,alter,always,and,any,are,array,as,asc,asensitive,assertion,assignment,asymmetric,at,atomic,attribute,attributes,authorization,avg,before,begin,bernoulli,between,bigint,binary,blob,boolean,both,breadth,by,c,call,called,cardinality,cascade,cascaded,case,cast,catalog,catalog_name,ceil,ceiling,chain,char,char_length,character,character_length,character_set_catalog,character_set_name,character_set_schema,characteristics,characters,check,checked,class_origin,clob,close,coalesce,cobol,code_units,collate,collation,collation_catalog,collation_name,collation_schema,collect,column,column_name,command_function,command_function_code,commit,committed,condition,condition_number,connect,connection_name,constraint,constraint_catalog,constraint_name,constraint_schema,constraints,constructors,contains,continue,convert,corr,corresponding,count,covar_pop,covar_samp,create,cross,cube,cume_dist,current,current_collation,current_date,current_default_transform_group,current_path,current_role,current_time,current_timestamp,current_transform_group_for_type,current_user,cursor,cursor_name,cycle,data,date,datetime_interval_code,datetime_interval_precision,day,deallocate,dec,decimal,declare,default,defaults,deferrable,deferred,defined,definer,degree,delete,dense_rank,depth,deref,derived,desc,describe,descriptor,deterministic,diagnostics,disconnect,dispatch,distinct,domain,double,drop,dynamic,dynamic_function,dynamic_function_code,each,element,else,end,end-exec,equals,escape,every,except,exception,exclude,excluding,exec,execute,exists,exp,external,extract,false,fetch,filter,final,first,float,floor,following,for,foreign,fortran,found,free,from,full,function,fusion,g,general,get,global,go,goto,grant,granted,group,grouping,having,hierarchy,hold,hour,identity,immediate,implementation,in,including,increment,indicator,initially,inner,inout,input,insensitive,insert,instance,instantiable,int,integer,intersect,intersection,interval,into,invoker,is,isolation,join,k,key,key_member,key_type,language,large,last,lateral,leading,left,length,level,like,ln,local,localtime,localtimestamp,locator,lower,m,map,match,matched,max,maxvalue,member,merge,message_length,message_octet_length,message_text,method,min,minute,minvalue,mod,modifies,module,month,more,multiset,mumps,name,names,national,natural,nchar,nclob,nesting,new,next,no,none,normalize,normalized,not,"null",nullable,nullif,nulls,number,numeric,object,octet_length,octets,of,old,on,only,open,option,options,or,order,ordering,ordinality,others,out,outer,output,over,overlaps,overlay,overriding,pad,parameter,parameter_mode,parameter_name,parameter_ordinal_position,parameter_specific_catalog,parameter_specific_name,parameter_specific_schema,partial,partition,pascal,path,percent_rank,percentile_cont,percentile_disc,placing,pli,position,power,preceding,precision,prepare,preserve,primary,prior,privileges,procedure,public,range,rank,read,reads,real,recursive,ref,references,referencing,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_syy,relative,release,repeatable,restart,result,return,returned_cardinality,returned_length,returned_octet_length,returned_sqlstate,returns,revoke,right,role,rollback,rollup,routine,routine_catalog,routine_name,routine_schema,row,row_count,row_number,rows,savepoint,scale,schema,schema_name,scope_catalog,scope_name,scope_schema,scroll,search,second,section,security,select,self,sensitive,sequence,serializable,server_name,session,session_user,set,sets,similar,simple,size,smallint,some,source,space,specific,specific_name,specifictype,sql,sqlexception,sqlstate,sqlwarning,sqrt,start,state,statement,static,stddev_pop,stddev_samp,structure,style,subclass_origin,submultiset,substring,sum,symmetric,system,system_user,table,table_name,tablesample,temporary,then,ties,time,timestamp,timezone_hour,timezone_minute,to,top_level_count,trailing,transaction,transaction_active,transactions_committed,transactions_rolled_back,transform,transforms,translate,translation,treat,trigger,trigger_catalog,trigger_name,trigger_schema,trim,true,type,uescape,unbounded,uncommitted,under,union,unique,unknown,unnamed,unnest,update,upper,usage,user,user_defined_type_catalog,user_defined_type_code,user_defined_type_name,user_defined_type_schema,using,value,values,var_pop,var_samp,varchar,varying,view,when,whenever,where,width_bucket,window,with,within,without,work,write,year,zone}'::text[])

-- @ jdbc/jdbc #21
select null as type_cat, n.nspname as type_schem, t.typname as type_name,  null as class_name, CASE WHEN t.typtype='c' then 2002 else 2001 end as data_type, pg_catalog.obj_description(t.oid, 'pg_type')  as remarks, CASE WHEN t.typtype = 'd' then  (select CASE when base_type.oid = 13312 then 2002 when base_type.oid = 4096 then 1111 when base_type.oid = 16385 then 2003 when base_type.oid = 4097 then 2003 when base_type.oid = 16386 then 2002 when base_type.oid = 12290 then 2003 when base_type.oid = 12291 then 2002 when base_type.oid = 1027 then 2003 when base_type.oid = 1028 then 2003 when base_type.oid = 13316 then 2003 when base_type.oid = 13317 then 2002 when base_type.oid = 12294 then 2003 when base_type.oid = 6150 then 2003 when base_type.oid = 12295 then 2002 when base_type.oid = 6151 then 2003 when base_type.oid = 6152 then 2003 when base_type.oid = 13321 then 2003 when base_type.oid = 6153 then 2003 when base_type.oid = 1033 then 1111 when base_type.oid = 16394 then 2003 when base_type.oid = 13322 then 2002 when base_type.oid = 12298 then 2003 when base_type.oid = 1034 then 2003 when base_type.oid = 16395 then 2002 when base_type.oid = 12299 then 2002 when base_type.oid = 6155 then 2003 when base_type.oid = 6157 then 2003 when base_type.oid = 13326 then 2003 when base_type.oid = 13327 then 2002 when base_type.oid = 12303 then 2003 when base_type.oid = 16 then -7 when base_type.oid = 12304 then 2002 when base_type.oid = 1040 then 2003 when base_type.oid = 17 then -2 when base_type.oid = 1041 then 2003 when base_type.oid = 18 then 1 when base_type.oid = 1042 then 1 when base_type.oid = 13330 then 2003 when base_type.oid = 1043 then 12 when base_type.oid = 19 then 12 when base_type.oid = 13331 then 2002 when base_type.oid = 20 then -5 when base_type.oid = 16404 then 2003 when base_type.oid = 12308 then 2003 when base_type.oid = 21 then 5 when base_type.oid = 16405 then 2002 when base_type.oid = 12309 then 2002 when base_type.oid = 22 then 1111 when base_type.oid = 23 then 4 when base_type.oid = 13335 then 2003 when base_type.oid = 13336 then 2002 when base_type.oid = 24 then 1111 when base_type.oid = 25 then 12 when base_type.oid = 16409 then 2003 when base_type.oid = 12313 then 2003 when base_type.oid = 26 then -5 when base_type.oid = 16410 then 2002 when base_type.oid = 12314 then 2002 when base_type.oid = 27 then 1111 when base_type.oid = 13340 then 2003 when base_type.oid = 28 then 1111 when base_type.oid = 13341 then 2002 when base_type.oid = 29 then 1111 when base_type.oid = 12318 then 2003 when base_type.oid = 30 then 1111 when base_type.oid = 12319 then 2002 when base_type.oid = 32 then 1111 when base_type.oid = 13345 then 2003 when base_type.oid = 13346 then 2002 when base_type.oid = 12323 then 2003 when base_type.oid = 12324 then 2002 when base_type.oid = 13349 then 2003 when base_type.oid = 13350 then 2002 when base_type.oid = 12328 then 2003 when base_type.oid = 12329 then 2002 when base_type.oid = 13354 then 2003 when base_type.oid = 13355 then 2002 when base_type.oid = 3115 then 1111 when base_type.oid = 12333 then 2003 when base_type.oid = 12334 then 2002 when base_type.oid = 13359 then 2003 when base_type.oid = 13360 then 2002 when base_type.oid = 12337 then 2003 when base_type.oid = 12338 then 2002 when base_type.oid = 13363 then 2003 when base_type.oid = 13364 then 2002 when base_type.oid = 13368 then 2003 when base_type.oid = 13369 then 2002 when base_type.oid = 1082 then 91 when base_type.oid = 1083 then 92 when base_type.oid = 13373 then 2003 when base_type.oid = 13374 then 2002 when base_type.oid = 13378 then 2003 when base_type.oid = 13379 then 2002 when base_type.oid = 13383 then 2003 when base_type.oid = 71 then 2002 when base_type.oid = 13384 then 2002 when base_type.oid = 13387 then 2003 when base_type.oid = 75 then 2002 when base_type.oid = 13388 then 2002 when base_type.oid = 13392 then 2003 when base_type.oid = 13393 then 2002 when base_type.oid = 81 then 2002 when base_type.oid = 83 then 2002 when base_type.oid = 13397 then 2003 when base_type.oid = 13398 then 2002 when base_type.oid = 1114 then 93 when base_type.oid = 13402 then 2003 when base_type.oid = 1115 then 2003 when base_type.oid = 13403 then 2002 when base_type.oid = 13407 then 2003 when base_type.oid = 4191 then 1111 when base_type.oid = 13408 then 2002 when base_type.oid = 4192 then 2003 when base_type.oid = 13412 then 2003 when base_type.oid = 13413 then 2002 when base_type.oid = 13417 then 2003 when base_type.oid = 13418 then 2002 when base_type.oid = 13422 then 2003 when base_type.oid = 13423 then 2002 when base_type.oid = 114 then 1111 when base_type.oid = 13426 then 2003 when base_type.oid = 13427 then 2002 when base_type.oid = 13431 then 2003 when base_type.oid = 13432 then 2002 when base_type.oid = 13436 then 2003 when base_type.oid = 13437 then 2002 when base_type.oid = 13441 then 2003 when base_type.oid = 13442 then 2002 when base_type.oid = 13446 then 2003 when base_type.oid = 13447 then 2002 when base_type.oid = 13451 then 2003 when base_type.oid = 13452 then 2002 when base_type.oid = 142 then 2009 when base_type.oid = 143 then 2003 when base_type.oid = 13455 then 2003 when base_type.oid = 13456 then 2002 when base_type.oid = 13460 then 2003 when base_type.oid = 3220 then 1111 when base_type.oid = 13461 then 2002 when base_type.oid = 3221 then 2003 when base_type.oid = 13464 then 2003 when base_type.oid = 2201 then 2003 when base_type.oid = 13465 then 2002 when base_type.oid = 2202 then 1111 when base_type.oid = 2203 then 1111 when base_type.oid = 2204 then 1111 when base_type.oid = 13469 then 2003 when base_type.oid = 2205 then 1111 when base_type.oid = 1182 then 2003 when base_type.oid = 13470 then 2002 when base_type.oid = 2206 then 1111 when base_type.oid = 1183 then 2003 when base_type.oid = 2207 then 2003 when base_type.oid = 1184 then 93 when base_type.oid = 2208 then 2003 when base_type.oid = 1185 then 2003 when base_type.oid = 2209 then 2003 when base_type.oid = 13474 then 2003 when base_type.oid = 2210 then 2003 when base_type.oid = 1186 then 1111 when base_type.oid = 13475 then 2002 when base_type.oid = 2211 then 2003 when base_type.oid = 1187 then 2003 when base_type.oid = 13479 then 2003 when base_type.oid = 13480 then 2002 when base_type.oid = 13484 then 2003 when base_type.oid = 13485 then 2002 when base_type.oid = 13489 then 2003 when base_type.oid = 13490 then 2002 when base_type.oid = 13494 then 2003 when base_type.oid = 13495 then 2002 when base_type.oid = 13499 then 2003 when base_type.oid = 13500 then 2002 when base_type.oid = 13504 then 2003 when base_type.oid = 13505 then 2002 when base_type.oid = 194 then 1111 when base_type.oid = 13508 then 2003 when base_type.oid = 13509 then 2002 when base_type.oid = 199 then 2003 when base_type.oid = 13512 then 2003 when base_type.oid = 13513 then 2002 when base_type.oid = 2249 then 1111 when base_type.oid = 13516 then 2003 when base_type.oid = 13517 then 2002 when base_type.oid = 1231 then 2003 when base_type.oid = 13520 then 2003 when base_type.oid = 13521 then 2002 when base_type.oid = 210 then 2003 when base_type.oid = 13525 then 2003 when base_type.oid = 13526 then 2002 when base_type.oid = 13529 then 2003 when base_type.oid = 13530 then 2002 when base_type.oid = 13533 then 2003 when base_type.oid = 13534 then 2002 when base_type.oid = 1248 then 2002 when base_type.oid = 13538 then 2003 when base_type.oid = 13539 then 2002 when base_type.oid = 2275 then 1111 when base_type.oid = 2276 then 1111 when base_type.oid = 2277 then 1111 when base_type.oid = 13542 then 2003 when base_type.oid = 2278 then 1111 when base_type.oid = 13543 then 2002 when base_type.oid = 2279 then 1111 when base_type.oid = 2280 then 1111 when base_type.oid = 2281 then 1111 when base_type.oid = 13546 then 2003 when base_type.oid = 13547 then 2002 when base_type.oid = 2283 then 1111 when base_type.oid = 3310 then 1111 when base_type.oid = 13551 then 2003 when base_type.oid = 2287 then 2003 when base_type.oid = 1263 then 2003 when base_type.oid = 13552 then 2002 when base_type.oid = 1266 then 92 when base_type.oid = 13556 then 2003 when base_type.oid = 13557 then 2002 when base_type.oid = 1270 then 2003 when base_type.oid = 269 then 1111 when base_type.oid = 270 then 2003 when base_type.oid = 271 then 2003 when base_type.oid = 272 then 2003 when base_type.oid = 273 then 2003 when base_type.oid = 3361 then 1111 when base_type.oid = 325 then 1111 when base_type.oid = 3402 then 1111 when base_type.oid = 4451 then 1111 when base_type.oid = 3500 then 1111 when base_type.oid = 4532 then 1111 when base_type.oid = 4533 then 1111 when base_type.oid = 4534 then 1111 when base_type.oid = 4535 then 1111 when base_type.oid = 4536 then 1111 when base_type.oid = 4537 then 1111 when base_type.oid = 4538 then 1111 when base_type.oid = 4600 then 1111 when base_type.oid = 4601 then 1111 when base_type.oid = 1560 then -7 when base_type.oid = 1561 then 2003 when base_type.oid = 1562 then 1111 when base_type.oid = 1563 then 2003 when base_type.oid = 3614 then 1111 when base_type.oid = 3615 then 1111 when base_type.oid = 3642 then 1111 when base_type.oid = 3643 then 2003 when base_type.oid = 3644 then 2003 when base_type.oid = 3645 then 2003 when base_type.oid = 600 then 1111 when base_type.oid = 601 then 1111 when base_type.oid = 602 then 1111 when base_type.oid = 603 then 1111 when base_type.oid = 604 then 1111 when base_type.oid = 628 then 1111 when base_type.oid = 629 then 2003 when base_type.oid = 650 then 1111 when base_type.oid = 651 then 2003 when base_type.oid = 3734 then 1111 when base_type.oid = 3735 then 2003 when base_type.oid = 1700 then 2 when base_type.oid = 3769 then 1111 when base_type.oid = 3770 then 2003 when base_type.oid = 700 then 7 when base_type.oid = 701 then 8 when base_type.oid = 705 then 1111 when base_type.oid = 718 then 1111 when base_type.oid = 719 then 2003 when base_type.oid = 2776 then 1111 when base_type.oid = 3802 then 1111 when base_type.oid = 3807 then 2003 when base_type.oid = 12001 then 2003 when base_type.oid = 12002 then 2002 when base_type.oid = 12006 then 2003 when base_type.oid = 12007 then 2002 when base_type.oid = 12011 then 2003 when base_type.oid = 12012 then 2002 when base_type.oid = 12015 then 2003 when base_type.oid = 12016 then 2002 when base_type.oid = 12019 then 2003 when base_type.oid = 12020 then 2002 when base_type.oid = 3831 then 1111 when base_type.oid = 12024 then 2003 when base_type.oid = 12025 then 2002 when base_type.oid = 12029 then 2003 when base_type.oid = 1790 then 2012 when base_type.oid = 12030 then 2002 when base_type.oid = 3838 then 1111 when base_type.oid = 12034 then 2003 when base_type.oid = 12035 then 2002 when base_type.oid = 774 then 1111 when base_type.oid = 12039 then 2003 when base_type.oid = 775 then 2003 when base_type.oid = 12040 then 2002 when base_type.oid = 12044 then 2003 when base_type.oid = 12045 then 2002 when base_type.oid = 10000 then 2003 when base_type.oid = 12049 then 2003 when base_type.oid = 10001 then 2002 when base_type.oid = 12050 then 2002 when base_type.oid = 10002 then 2003 when base_type.oid = 10003 then 2002 when base_type.oid = 10004 then 2003 when base_type.oid = 10005 then 2002 when base_type.oid = 790 then 8 when base_type.oid = 12054 then 2003 when base_type.oid = 10006 then 2003 when base_type.oid = 791 then 2003 when base_type.oid = 12055 then 2002 when base_type.oid = 10007 then 2002 when base_type.oid = 10008 then 2003 when base_type.oid = 10009 then 2002 when base_type.oid = 10010 then 2003 when base_type.oid = 2842 then 2002 when base_type.oid = 12059 then 2003 when base_type.oid = 10011 then 2002 when base_type.oid = 2843 then 2002 when base_type.oid = 12060 then 2002 when base_type.oid = 10012 then 2003 when base_type.oid = 10013 then 2002 when base_type.oid = 10014 then 2003 when base_type.oid = 10015 then 2002 when base_type.oid = 12064 then 2003 when base_type.oid = 10016 then 2003 when base_type.oid = 12065 then 2002 when base_type.oid = 10017 then 2002 when base_type.oid = 10018 then 2003 when base_type.oid = 10019 then 2002 when base_type.oid = 10020 then 2003 when base_type.oid = 12069 then 2003 when base_type.oid = 10021 then 2002 when base_type.oid = 12070 then 2002 when base_type.oid = 10022 then 2003 when base_type.oid = 10023 then 2002 when base_type.oid = 10024 then 2003 when base_type.oid = 10025 then 2002 when base_type.oid = 12074 then 2003 when base_type.oid = 10026 then 2003 when base_type.oid = 12075 then 2002 when base_type.oid = 10027 then 2002 when base_type.oid = 10028 then 2003 when base_type.oid = 10029 then 2002 when base_type.oid = 12078 then 2003 when base_type.oid = 10030 then 2003 when base_type.oid = 12079 then 2002 when base_type.oid = 10031 then 2002 when base_type.oid = 10032 then 2003 when base_type.oid = 10033 then 2002 when base_type.oid = 12082 then 2003 when base_type.oid = 10034 then 2003 when base_type.oid = 12083 then 2002 when base_type.oid = 10035 then 2002 when base_type.oid = 10036 then 2003 when base_type.oid = 10037 then 2002 when base_type.oid = 12086 then 2003 when base_type.oid = 10038 then 2003 when base_type.oid = 12087 then 2002 when base_type.oid = 10039 then 2002 when base_type.oid = 10040 then 2003 when base_type.oid = 10041 then 2002 when base_type.oid = 10042 then 2003 when base_type.oid = 12091 then 2003 when base_type.oid = 10043 then 2002 when base_type.oid = 12092 then 2002 when base_type.oid = 10044 then 2003 when base_type.oid = 10045 then 2002 when base_type.oid = 829 then 1111 when base_type.oid = 10046 then 2003 when base_type.oid = 10047 then 2002 when base_type.oid = 12096 then 2003 when base_type.oid = 10048 then 2003 when base_type.oid = 3904 then 1111 when base_type.oid = 12097 then 2002 when base_type.oid = 10049 then 2002 when base_type.oid = 3905 then 2003 when base_type.oid = 10050 then 2003 when base_type.oid = 3906 then 1111 when base_type.oid = 10051 then 2002 when base_type.oid = 3907 then 2003 when base_type.oid = 12100 then 2003 when base_type.oid = 10052 then 2003 when base_type.oid = 3908 then 1111 when base_type.oid = 12101 then 2002 when base_type.oid = 10053 then 2003 when base_type.oid = 3909 then 2003 when base_type.oid = 10054 then 2002 when base_type.oid = 3910 then 1111 when base_type.oid = 10055 then 2003 when base_type.oid = 3911 then 2003 when base_type.oid = 10056 then 2002 when base_type.oid = 3912 then 1111 when base_type.oid = 12105 then 2003 when base_type.oid = 10057 then 2003 when base_type.oid = 3913 then 2003 when base_type.oid = 12106 then 2002 when base_type.oid = 10058 then 2003 when base_type.oid = 10059 then 2003 when base_type.oid = 10060 then 2002 when base_type.oid = 10061 then 2003 when base_type.oid = 10062 then 2002 when base_type.oid = 12111 then 2003 when base_type.oid = 10063 then 2003 when base_type.oid = 12112 then 2002 when base_type.oid = 10064 then 2002 when base_type.oid = 10065 then 2003 when base_type.oid = 10066 then 2002 when base_type.oid = 12115 then 2003 when base_type.oid = 10067 then 2003 when base_type.oid = 12116 then 2002 when base_type.oid = 10068 then 2002 when base_type.oid = 10069 then 2003 when base_type.oid = 10070 then 2002 when base_type.oid = 3926 then 1111 when base_type.oid = 12119 then 2003 when base_type.oid = 10071 then 2003 when base_type.oid = 3927 then 2003 when base_type.oid = 12120 then 2002 when base_type.oid = 10072 then 2002 when base_type.oid = 10073 then 2003 when base_type.oid = 10074 then 2002 when base_type.oid = 12123 then 2003 when base_type.oid = 10075 then 2003 when base_type.oid = 12124 then 2002 when base_type.oid = 10076 then 2002 when base_type.oid = 10077 then 2003 when base_type.oid = 10078 then 2002 when base_type.oid = 12127 then 2003 when base_type.oid = 10079 then 2003 when base_type.oid = 12128 then 2002 when base_type.oid = 10080 then 2002 when base_type.oid = 10081 then 2003 when base_type.oid = 10082 then 2002 when base_type.oid = 12131 then 2003 when base_type.oid = 10083 then 2003 when base_type.oid = 12132 then 2002 when base_type.oid = 10084 then 2002 when base_type.oid = 10085 then 2003 when base_type.oid = 869 then 1111 when base_type.oid = 10086 then 2002 when base_type.oid = 12135 then 2003 when base_type.oid = 10087 then 2003 when base_type.oid = 12136 then 2002 when base_type.oid = 10088 then 2002 when base_type.oid = 10089 then 2003 when base_type.oid = 10090 then 2002 when base_type.oid = 12139 then 2003 when base_type.oid = 10091 then 2003 when base_type.oid = 12140 then 2002 when base_type.oid = 10092 then 2002 when base_type.oid = 10093 then 2003 when base_type.oid = 10094 then 2003 when base_type.oid = 12143 then 2003 when base_type.oid = 10095 then 2002 when base_type.oid = 12144 then 2002 when base_type.oid = 10096 then 2003 when base_type.oid = 10097 then 2002 when base_type.oid = 10098 then 2003 when base_type.oid = 10099 then 2002 when base_type.oid = 12148 then 2003 when base_type.oid = 10100 then 2003 when base_type.oid = 12149 then 2002 when base_type.oid = 10101 then 2002 when base_type.oid = 10102 then 2003 when base_type.oid = 10103 then 2002 when base_type.oid = 10104 then 2003 when base_type.oid = 12153 then 2003 when base_type.oid = 10105 then 2002 when base_type.oid = 12154 then 2002 when base_type.oid = 10106 then 2003 when base_type.oid = 10107 then 2002 when base_type.oid = 10108 then 2003 when base_type.oid = 10109 then 2002 when base_type.oid = 12158 then 2003 when base_type.oid = 10110 then 2003 when base_type.oid = 12159 then 2002 when base_type.oid = 10111 then 2002 when base_type.oid = 10112 then 2003 when base_type.oid = 10113 then 2003 when base_type.oid = 12162 then 2003 when base_type.oid = 10114 then 2002 when base_type.oid = 12163 then 2002 when base_type.oid = 2949 then 2003 when base_type.oid = 2950 then 1111 when base_type.oid = 2951 then 2003 when base_type.oid = 12167 then 2003 when base_type.oid = 12168 then 2002 when base_type.oid = 12171 then 2003 when base_type.oid = 12172 then 2002 when base_type.oid = 12176 then 2003 when base_type.oid = 12177 then 2002 when base_type.oid = 12180 then 2003 when base_type.oid = 12181 then 2002 when base_type.oid = 12184 then 2003 when base_type.oid = 12185 then 2002 when base_type.oid = 5017 then 1111 when base_type.oid = 2970 then 1111 when base_type.oid = 12189 then 2003 when base_type.oid = 12190 then 2002 when base_type.oid = 12193 then 2003 when base_type.oid = 12194 then 2002 when base_type.oid = 13220 then 2003 when base_type.oid = 13221 then 2001 when base_type.oid = 12197 then 2003 when base_type.oid = 12198 then 2002 when base_type.oid = 13223 then 2003 when base_type.oid = 13224 then 2001 when base_type.oid = 13225 then 2003 when base_type.oid = 13226 then 2001 when base_type.oid = 12202 then 2003 when base_type.oid = 12203 then 2002 when base_type.oid = 13228 then 2003 when base_type.oid = 13229 then 2002 when base_type.oid = 12206 then 2003 when base_type.oid = 5038 then 1111 when base_type.oid = 13231 then 2003 when base_type.oid = 12207 then 2002 when base_type.oid = 5039 then 2003 when base_type.oid = 13232 then 2001 when base_type.oid = 13233 then 2003 when base_type.oid = 13234 then 2001 when base_type.oid = 12210 then 2003 when base_type.oid = 12211 then 2002 when base_type.oid = 13237 then 2003 when base_type.oid = 13238 then 2002 when base_type.oid = 12215 then 2003 when base_type.oid = 12216 then 2002 when base_type.oid = 13242 then 2003 when base_type.oid = 13243 then 2002 when base_type.oid = 12219 then 2003 when base_type.oid = 12220 then 2002 when base_type.oid = 13246 then 2003 when base_type.oid = 13247 then 2002 when base_type.oid = 12223 then 2003 when base_type.oid = 12224 then 2002 when base_type.oid = 13251 then 2003 when base_type.oid = 13252 then 2002 when base_type.oid = 12228 then 2003 when base_type.oid = 12229 then 2002 when base_type.oid = 13256 then 2003 when base_type.oid = 13257 then 2002 when base_type.oid = 12233 then 2003 when base_type.oid = 12234 then 2002 when base_type.oid = 13261 then 2003 when base_type.oid = 12237 then 2003 when base_type.oid = 5069 then 1111 when base_type.oid = 13262 then 2002 when base_type.oid = 12238 then 2002 when base_type.oid = 12241 then 2003 when base_type.oid = 13266 then 2003 when base_type.oid = 12242 then 2002 when base_type.oid = 13267 then 2002 when base_type.oid = 12245 then 2003 when base_type.oid = 6101 then 2002 when base_type.oid = 5077 then 1111 when base_type.oid = 12246 then 2002 when base_type.oid = 5078 then 1111 when base_type.oid = 13271 then 2003 when base_type.oid = 5079 then 1111 when base_type.oid = 13272 then 2002 when base_type.oid = 5080 then 1111 when base_type.oid = 12250 then 2003 when base_type.oid = 12251 then 2002 when base_type.oid = 13276 then 2003 when base_type.oid = 13277 then 2002 when base_type.oid = 12254 then 2003 when base_type.oid = 12255 then 2002 when base_type.oid = 13281 then 2003 when base_type.oid = 13282 then 2002 when base_type.oid = 12258 then 2003 when base_type.oid = 4066 then 2002 when base_type.oid = 12259 then 2002 when base_type.oid = 13286 then 2003 when base_type.oid = 13287 then 2002 when base_type.oid = 12263 then 2003 when base_type.oid = 1000 then 2003 when base_type.oid = 12264 then 2002 when base_type.oid = 4072 then 1111 when base_type.oid = 1001 then 2003 when base_type.oid = 4073 then 2003 when base_type.oid = 1002 then 2003 when base_type.oid = 1003 then 2003 when base_type.oid = 13291 then 2003 when base_type.oid = 12267 then 2003 when base_type.oid = 13292 then 2002 when base_type.oid = 12268 then 2002 when base_type.oid = 1005 then 2003 when base_type.oid = 1006 then 2003 when base_type.oid = 1007 then 2003 when base_type.oid = 13296 then 2003 when base_type.oid = 12272 then 2003 when base_type.oid = 1008 then 2003 when base_type.oid = 1009 then 2003 when base_type.oid = 13297 then 2002 when base_type.oid = 12273 then 2002 when base_type.oid = 1010 then 2003 when base_type.oid = 1011 then 2003 when base_type.oid = 12276 then 2003 when base_type.oid = 1012 then 2003 when base_type.oid = 13301 then 2003 when base_type.oid = 12277 then 2002 when base_type.oid = 1013 then 2003 when base_type.oid = 1014 then 2003 when base_type.oid = 13302 then 2002 when base_type.oid = 1015 then 2003 when base_type.oid = 1016 then 2003 when base_type.oid = 1017 then 2003 when base_type.oid = 12281 then 2003 when base_type.oid = 4089 then 1111 when base_type.oid = 13306 then 2003 when base_type.oid = 12282 then 2002 when base_type.oid = 4090 then 2003 when base_type.oid = 1018 then 2003 when base_type.oid = 13307 then 2002 when base_type.oid = 1019 then 2003 when base_type.oid = 1020 then 2003 when base_type.oid = 1021 then 2003 when base_type.oid = 1022 then 2003 when base_type.oid = 12286 then 2003 when base_type.oid = 13311 then 2003 when base_type.oid = 12287 then 2002 else 1111 end from pg_type base_type where base_type.oid=t.typbasetype) else null end as base_type from pg_catalog.pg_type t, pg_catalog.pg_namespace n where t.typnamespace = n.oid and n.nspname != 'pg_catalog' and n.nspname != 'pg_toast' and t.typtype IN ('c','d')  and t.typname like '%' order by data_type, type_schem, type_name

-- @ jdbc/jdbc #22
SELECT name, count(*) FROM t1 WHERE ts > $1 AND v BETWEEN $2 AND $3 GROUP BY name ORDER BY 2 DESC LIMIT $4

-- @ jdbc/jdbc #23
SELECT id,name,ts,v,tags,j FROM t1

-- @ jdbc/jdbc #24
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 16384 AS oid , 1 AS attnum UNION ALL SELECT 16384, 2 UNION ALL SELECT 16384, 3 UNION ALL SELECT 16384, 4 UNION ALL SELECT 16384, 5 UNION ALL SELECT 16384, 6) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum)

-- @ jdbc/jdbc #25
BEGIN

-- @ jdbc/jdbc #26
select 1

-- @ jdbc/jdbc #27
SAVEPOINT "x"

-- @ jdbc/jdbc #28
ROLLBACK TO SAVEPOINT "x"

-- @ jdbc/jdbc #29
COMMIT

-- @ jdbc/jdbc #30
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE

-- @ jdbc/jdbc #31
SHOW TRANSACTION ISOLATION LEVEL

-- @ jdbc/jdbc #32
SET SESSION search_path TO 'public'

-- @ jdbc/jdbc #33
select current_schema()

-- @ jdbc/jdbc #34
SET application_name = 'zz'

-- @ jdbc/jdbc #35
select * from lower($1,$2) as result

-- @ jdbc/jdbc #36
select now(), TIMESTAMP '2020-01-01 00:00:00'

-- @ sqlalchemy/sqlalchemy #2
SELECT t.oid, typarray
FROM pg_type t JOIN pg_namespace ns
    ON typnamespace = ns.oid
WHERE typname = 'hstore'

-- @ sqlalchemy/sqlalchemy #3
ROLLBACK

-- @ sqlalchemy/sqlalchemy #5
select pg_catalog.version()

-- @ sqlalchemy/sqlalchemy #7
show transaction isolation level

-- @ sqlalchemy/sqlalchemy #8
show standard_conforming_strings

-- @ sqlalchemy/sqlalchemy #11
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname

-- @ sqlalchemy/sqlalchemy #14
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind in ('r', 'p')

-- @ sqlalchemy/sqlalchemy #17
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('v', 'm')

-- @ sqlalchemy/sqlalchemy #20
SELECT c.oid
            FROM pg_catalog.pg_class c
            LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE (pg_catalog.pg_table_is_visible(c.oid))
            AND c.relname = 't1' AND c.relkind in
            ('r', 'v', 'm', 'f', 'p')

-- @ sqlalchemy/sqlalchemy #21
SELECT a.attname,
              pg_catalog.format_type(a.atttypid, a.atttypmod),
              (
                SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid)
                FROM pg_catalog.pg_attrdef d
                WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum
                AND a.atthasdef
              ) AS DEFAULT,
              a.attnotnull,
              a.attrelid as table_oid,
              pgd.description as comment,
              a.attgenerated as generated,
                              (SELECT json_build_object(
                    'always', a.attidentity = 'a',
                    'start', s.seqstart,
                    'increment', s.seqincrement,
                    'minvalue', s.seqmin,
                    'maxvalue', s.seqmax,
                    'cache', s.seqcache,
                    'cycle', s.seqcycle)
                FROM pg_catalog.pg_sequence s
                JOIN pg_catalog.pg_class c on s.seqrelid = c."oid"
                WHERE c.relkind = 'S'
                AND a.attidentity != ''
                AND s.seqrelid = pg_catalog.pg_get_serial_sequence(
                    a.attrelid::regclass::text, a.attname
                )::regclass::oid
                ) as identity_options                
            FROM pg_catalog.pg_attribute a
            LEFT JOIN pg_catalog.pg_description pgd ON (
                pgd.objoid = a.attrelid AND pgd.objsubid = a.attnum)
            WHERE a.attrelid = 16384
            AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum

-- @ sqlalchemy/sqlalchemy #22
SELECT t.typname as "name",
               pg_catalog.format_type(t.typbasetype, t.typtypmod) as "attype",
               not t.typnotnull as "nullable",
               t.typdefault as "default",
               pg_catalog.pg_type_is_visible(t.oid) as "visible",
               n.nspname as "schema"
            FROM pg_catalog.pg_type t
               LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
            WHERE t.typtype = 'd'

-- @ sqlalchemy/sqlalchemy #23
SELECT t.typname as "name",
               -- no enum defaults in 8.4 at least
               -- t.typdefault as "default",
               pg_catalog.pg_type_is_visible(t.oid) as "visible",
               n.nspname as "schema",
               e.enumlabel as "label"
            FROM pg_catalog.pg_type t
                 LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
                 LEFT JOIN pg_catalog.pg_enum e ON t.oid = e.enumtypid
            WHERE t.typtype = 'e'
        ORDER BY "schema", "name", e.oid

-- @ sqlalchemy/sqlalchemy #26
SELECT a.attname
                FROM pg_attribute a JOIN (
                    SELECT unnest(ix.indkey) attnum,
                           generate_subscripts(ix.indkey, 1) ord
                    FROM pg_index ix
                    WHERE ix.indrelid = 16384 AND ix.indisprimary
                    ) k ON a.attnum=k.attnum
                WHERE a.attrelid = 16384
                ORDER BY k.ord

-- @ sqlalchemy/sqlalchemy #27
SELECT conname
           FROM  pg_catalog.pg_constraint r
           WHERE r.conrelid = 16384 AND r.contype = 'p'
           ORDER BY 1

-- @ sqlalchemy/sqlalchemy #30
SELECT r.conname,
                pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
                n.nspname as conschema
          FROM  pg_catalog.pg_constraint r,
                pg_namespace n,
                pg_class c

          WHERE r.conrelid = 16384 AND
                r.contype = 'f' AND
                c.oid = confrelid AND
                n.oid = c.relnamespace
          ORDER BY 1

-- @ sqlalchemy/sqlalchemy #33
SELECT
                  i.relname as relname,
                  ix.indisunique, ix.indexprs,
                  a.attname, a.attnum, c.conrelid, ix.indkey::varchar,
                  ix.indoption::varchar, i.reloptions, am.amname,
                  pg_get_expr(ix.indpred, ix.indrelid),
                  ix.indnkeyatts as indnkeyatts
              FROM
                  pg_class t
                        join pg_index ix on t.oid = ix.indrelid
                        join pg_class i on i.oid = ix.indexrelid
                        left outer join
                            pg_attribute a
                            on t.oid = a.attrelid and a.attnum = ANY(ix.indkey)
                        left outer join
                            pg_constraint c
                            on (ix.indrelid = c.conrelid and
                                ix.indexrelid = c.conindid and
                                c.contype in ('p', 'u', 'x'))
                        left outer join
                            pg_am am
                            on i.relam = am.oid
              WHERE
                  t.relkind IN ('r', 'v', 'f', 'm', 'p')
                  and t.oid = 16384
                  and ix.indisprimary = 'f'
              ORDER BY
                  t.relname,
                  i.relname

-- @ sqlalchemy/sqlalchemy #36
SELECT
                cons.conname as name,
                cons.conkey as key,
                a.attnum as col_num,
                a.attname as col_name
            FROM
                pg_catalog.pg_constraint cons
                join pg_attribute a
                  on cons.conrelid = a.attrelid AND
                    a.attnum = ANY(cons.conkey)
            WHERE
                cons.conrelid = 16384 AND
                cons.contype = 'u'

-- @ sqlalchemy/sqlalchemy #39
SELECT
                cons.conname as name,
                pg_get_constraintdef(cons.oid) as src
            FROM
                pg_catalog.pg_constraint cons
            WHERE
                cons.conrelid = 16384 AND
                cons.contype = 'c'

-- @ sqlalchemy/sqlalchemy #42
SELECT
                pgd.description as table_comment
            FROM
                pg_catalog.pg_description pgd
            WHERE
                pgd.objsubid = 0 AND
                pgd.objoid = 16384

-- @ sqlalchemy/sqlalchemy #45
SELECT c.oid
            FROM pg_catalog.pg_class c
            LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE (pg_catalog.pg_table_is_visible(c.oid))
            AND c.relname = 't2' AND c.relkind in
            ('r', 'v', 'm', 'f', 'p')

-- @ sqlalchemy/sqlalchemy #70
SELECT pg_get_viewdef(c.oid) view_def FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relname = 'v1' AND c.relkind IN ('v', 'm')

-- @ sqlalchemy/sqlalchemy #73
select relname from pg_class c join pg_namespace n on n.oid=c.relnamespace where pg_catalog.pg_table_is_visible(c.oid) and relname='t1'

-- @ sqlalchemy/sqlalchemy #101
SELECT count(*) AS count_1 
FROM t1

-- @ sqlalchemy/sqlalchemy #102
INSERT INTO t1 (id, name, v) VALUES (1, 'a''b\c', 1.5) RETURNING t1.id

-- @ sqlalchemy/sqlalchemy #103
SELECT t1.name, sum(t1.v) FILTER (WHERE t1.v > 0) AS anon_1 
FROM t1 
WHERE t1.name IN ('a', 'b') GROUP BY t1.name 
 LIMIT 3 OFFSET 1

-- @ sqlalchemy/sqlalchemy #104
DELETE FROM t1

-- @ analytic/cast1
SELECT id::text, v::numeric(10,2), '2024-01-01'::date, -1::int, (v + 1)::bigint::text AS c FROM t1

-- @ analytic/cast2
SELECT CAST(v AS double precision), CAST('{1,2}' AS int[]), 'now'::timestamp with time zone, x::character varying(20) FROM t1 x

-- @ analytic/param1
SELECT name, count(*) FROM events WHERE ts >= $1 AND ts < $2 AND user_id = $3::uuid GROUP BY 1 ORDER BY 2 DESC LIMIT $4 OFFSET $5

-- @ analytic/quoted
SELECT "userId", "Order"."Key" AS "Weird ""Name""", t."select" FROM "Schema"."Order" JOIN t USING ("userId")

-- @ analytic/fold
SELECT UserId, USERID, userid FROM Events WHERE EventTime > NOW()

-- @ analytic/estr
SELECT E'tab\there\n', 'back\slash', 'it''s', E'\u00e9', U&'d\0061t' , N'x' FROM t

-- @ analytic/dollar
SELECT $$it's raw$$, $tag$a $$ b$tag$ || 'x'

-- @ analytic/concat
SELECT first || ' ' || last AS full, 'n=' || 1 + 2, a || b = c || d FROM p

-- @ analytic/interval1
SELECT * FROM events WHERE ts > now() - INTERVAL '1 minute' AND ts < now() + interval '2 days 3 hours'

-- @ analytic/interval2
SELECT interval '1' day, interval '1-2' year to month, interval '90' minute, INTERVAL '1 day' * 2

-- @ analytic/tslit
SELECT TIMESTAMP '2024-01-01 00:00:00', DATE '2024-01-01', TIMESTAMPTZ '2024-01-01 00:00+00', time '10:00', timestamp with time zone '2024-01-01'

-- @ analytic/filter
SELECT date_trunc('minute', ts) AS m, count(*) FILTER (WHERE status >= 500) AS errors, count(*) AS n, sum(bytes) FILTER (WHERE method = 'GET') FROM logs GROUP BY m

-- @ analytic/withingroup
SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY latency DESC), mode() WITHIN GROUP (ORDER BY status), percentile_disc(ARRAY[0.5,0.9]) WITHIN GROUP (ORDER BY latency) FROM logs

-- @ analytic/distincton
SELECT DISTINCT ON (user_id, date_trunc('day', ts)) user_id, ts, page FROM visits ORDER BY user_id, date_trunc('day', ts), ts DESC

-- @ analytic/ilike
SELECT * FROM t WHERE name ILIKE '%foo%' AND path NOT LIKE '/api/%' AND a NOT ILIKE b || '%' AND x LIKE 'a!_%' ESCAPE '!'

-- @ analytic/regex
SELECT * FROM t WHERE a ~ '^x' AND b ~* 'y$' AND c !~ 'z' AND d !~* 'w' AND a OPERATOR(pg_catalog.~) '^q$' COLLATE pg_catalog."default"

-- @ analytic/array
SELECT ARRAY[1,2,3], ARRAY[[1,2],[3,4]], tags[1], tags[2:3], (string_to_array(p,'/'))[2], ARRAY(SELECT x FROM y), '{a}'::text[] FROM t

-- @ analytic/any
SELECT * FROM t WHERE id = ANY($1) AND k <> ALL (ARRAY['a','b']) AND id = ANY (SELECT id FROM u) AND name ~ ANY (ARRAY['a','b']) AND name LIKE ANY (ARRAY['x%'])

-- @ analytic/extract
SELECT EXTRACT(EPOCH FROM ts), extract(dow from ts)::int, EXTRACT('hour' FROM ts), date_part('day', ts) FROM t

-- @ analytic/fnsyntax
SELECT substring(s FROM 2 FOR 3), substring(s, 1, 2), position('a' IN s), trim(both ' ' from s), trim(s), overlay(s placing 'x' from 1 for 2), trim(leading from s) FROM t

-- @ analytic/nulls
SELECT * FROM t ORDER BY a DESC NULLS LAST, b NULLS FIRST, 3 ASC, c COLLATE "C" DESC

-- @ analytic/offset
SELECT * FROM t ORDER BY id OFFSET 10

-- @ analytic/offset2
SELECT * FROM t ORDER BY id OFFSET 10 ROWS FETCH FIRST 5 ROWS ONLY

-- @ analytic/fetchfirst
SELECT * FROM t FETCH FIRST ROW ONLY

-- @ analytic/limitall
SELECT * FROM t LIMIT ALL OFFSET $1

-- @ analytic/limitexpr
SELECT * FROM t LIMIT (SELECT 5) OFFSET 2 + 3

-- @ analytic/values
VALUES (1,'a'),(2,'b') ORDER BY 1 LIMIT 1

-- @ analytic/valuesfrom
SELECT v.id, t.name FROM (VALUES (1,'a'),(2,'b')) AS v(id, label) LEFT JOIN t ON t.id = v.id

-- @ analytic/gs
SELECT g, g * 2 FROM generate_series(1, 10) AS g

-- @ analytic/gs2
SELECT d::date FROM generate_series('2024-01-01'::timestamp, '2024-02-01', '1 day') AS s(d)

-- @ analytic/unnest
SELECT t.id, u.tag, u.n FROM t, unnest(t.tags) WITH ORDINALITY AS u(tag, n)

-- @ analytic/lateral
SELECT t.id, l.total FROM t LEFT JOIN LATERAL (SELECT sum(x) AS total FROM u WHERE u.tid = t.id) l ON true

-- @ analytic/lateral2
SELECT * FROM t CROSS JOIN LATERAL jsonb_each(t.j) AS e(k, v)

-- @ analytic/recordfn
SELECT * FROM json_to_recordset('[{"a":1,"b":"x"}]') AS x(a int, b text)

-- @ analytic/cte
WITH hits AS (SELECT user_id, count(*) AS n FROM visits GROUP BY user_id), top AS MATERIALIZED (SELECT * FROM hits WHERE n > 10) SELECT * FROM top JOIN hits USING (user_id)

-- @ analytic/cterec
WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 100) SELECT sum(n) FROM r

-- @ analytic/window1
SELECT user_id, ts, row_number() OVER (PARTITION BY user_id ORDER BY ts) AS rn, lag(v, 1) OVER w, sum(v) OVER (w ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY user_id ORDER BY ts DESC NULLS LAST)

-- @ analytic/window2
SELECT approx_distinct(user_id) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '5 minutes' PRECEDING AND CURRENT ROW), count(*) FILTER (WHERE ok) OVER (PARTITION BY g) FROM t

-- @ analytic/window3
SELECT first_value(v) OVER (ORDER BY ts GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), ntile(4) OVER (), rank() OVER (ORDER BY sum(v) DESC) FROM t GROUP BY v, ts

-- @ analytic/groupsets
SELECT region, product, sum(amount), grouping(region, product) FROM sales GROUP BY GROUPING SETS ((region, product), (region), ())

-- @ analytic/rollup
SELECT a, b, sum(c) FROM t GROUP BY ROLLUP (a, b)

-- @ analytic/cube
SELECT a, b, c, sum(d) FROM t GROUP BY a, CUBE (b, c) HAVING sum(d) > 0

-- @ analytic/union
SELECT a FROM t UNION ALL SELECT b FROM u UNION SELECT c FROM v ORDER BY 1 LIMIT 10

-- @ analytic/setops
(SELECT a FROM t EXCEPT SELECT b FROM u) INTERSECT SELECT c FROM v

-- @ analytic/setprec
SELECT 1 UNION SELECT 2 INTERSECT SELECT 3

-- @ analytic/isdistinct
SELECT * FROM t WHERE a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM d + 1 AND NOT e IS NULL AND f IS NOT TRUE AND g IS UNKNOWN

-- @ analytic/fulljoin
SELECT * FROM a FULL OUTER JOIN b ON a.id = b.id FULL JOIN c USING (id)

-- @ analytic/joins
SELECT * FROM a NATURAL JOIN b CROSS JOIN c RIGHT OUTER JOIN d ON d.id = a.id, e INNER JOIN f ON e.id = f.id WHERE a.x = e.x

-- @ analytic/approx1
SELECT APPROX_DISTINCT(user_id), APPROX_QUANTILE(latency, 0.99), approx_top_k(url, 10) FROM logs WHERE ts > now() - interval '1 hour'

-- @ analytic/approx2
SELECT window_start, APPROX_DISTINCT(DISTINCT user_id) FROM TUMBLE(events, ts, INTERVAL '1 minute') GROUP BY window_start

-- @ analytic/stragg
SELECT string_agg(name, ', ' ORDER BY name DESC), array_agg(DISTINCT id ORDER BY id), json_agg(row_to_json(t.*)), count(DISTINCT (a, b)) FROM t

-- @ analytic/json
SELECT j -> 'a' ->> 'b', j #> '{a,b}', j @> '{"x":1}', j ? 'k', j->'arr'->0 FROM t WHERE j->>'type' = 'click'

-- @ analytic/attz
SELECT ts AT TIME ZONE 'UTC', date_trunc('hour', ts AT TIME ZONE 'Europe/Berlin') FROM t

-- @ analytic/prec1
SELECT a + b || c, 1 + 2 * 3 % 4, -2 ^ 2, a | b & c, a << 1 + 2, NOT a = b AND c OR d, (a < b) = c, a = b IS NULL FROM t

-- @ analytic/prec2
SELECT 2 ^ 3 ^ 2, x -> 'a' = 'b', a # b, ~ a, @ -5, |/ 25, a || b LIKE c || d, a BETWEEN b + 1 AND c - 1 AND d FROM t

-- @ analytic/intdiv
SELECT 7 / 2, 7 % 2, 7.0 / 2, 1e3, .5, 10000000000000000000, 9223372036854775807, -9223372036854775808, 1.50

-- @ analytic/reserved
SELECT rank, groups, system, key, keys, index, read, range, rows, lead, lag, row_number, ntile, first_value, over, condition, change, database, databases, option, schema, schemas, usage, release, repeat, replace, require, status, type, date, time, year, month, day, hour, minute, second, value, values, count, names, mode, loop, signal, interval, lines, load, lock, match, optimize, purge, rename, separator, explain, describe, div, mod, xor, rlike, regexp, percent_rank, cume_dist, dense_rank, nth_value, recursive, rowid, session, trigger, unsigned, utc_date, varying FROM stats

-- @ analytic/reserved2
SELECT t.key, t.value AS rank, u.groups FROM keys t, index u WHERE t.system = 1 GROUP BY t.key, t.value, u.groups

-- @ analytic/comments
SELECT a -- trailing comment
 /* block /* nested */ still */ , b--no space
 FROM t WHERE x = 5 # 3

-- @ analytic/bang
SELECT a && b, a <@ b, a -|- b, 5 !~ 'x' FROM t

-- @ analytic/hintlike
SELECT /*! 1, */ 2 /*+ x */, '/*! x */' FROM t

-- @ analytic/row
SELECT ROW(1,2), (1,2) = (3,4), ROW(1), (a,b) IN ((1,2),(3,4)), (t).x, (f(1)).* FROM t

-- @ analytic/nofrom
SELECT 1 WHERE true

-- @ analytic/emptylist
SELECT count(*) FROM t WHERE EXISTS (SELECT FROM u WHERE u.id = t.id)

-- @ analytic/caseexpr
SELECT CASE WHEN a > 1 THEN 'x' WHEN a IS NULL THEN NULL ELSE 'y' END, CASE a WHEN 1 THEN 2 END::text, COALESCE(a, b, 0), NULLIF(a, 0), GREATEST(a, b) FROM t

-- @ analytic/sqlval
SELECT current_date, current_timestamp, current_timestamp(3), localtime, current_user, session_user, current_schema, current_catalog, now(), version()

-- @ analytic/named
SELECT make_interval(days => 10, hours := 2), f(VARIADIC ARRAY[1,2]), concat_ws(',', VARIADIC arr) FROM t

-- @ analytic/bits
SELECT B'101', X'1FF', '\xdeadbeef'::bytea, true AND NOT false

-- @ analytic/typed
SELECT regclass 'pg_class', 'pg_class'::regclass::oid, pg_catalog.format_type(a.atttypid, a.atttypmod), numeric '1.5', float8 '1', bool 't' FROM pg_attribute a

-- @ analytic/similar
SELECT * FROM t WHERE a SIMILAR TO '(b|c)%' AND b NOT SIMILAR TO 'x' AND c BETWEEN SYMMETRIC 5 AND 1 AND d ISNULL AND e NOTNULL

-- @ analytic/groupexpr
SELECT date_trunc('hour', ts) AS bucket, host, avg(cpu)::numeric(5,2) AS cpu FROM metrics WHERE ts BETWEEN '2024-01-01' AND '2024-01-02' GROUP BY bucket, host HAVING count(*) > 10 ORDER BY bucket DESC, cpu DESC NULLS LAST LIMIT 100

-- @ analytic/bi1
SELECT "t1"."region" AS "region", SUM("t1"."amount") AS "sum_amount", COUNT(DISTINCT "t1"."customer_id") AS "ctd" FROM "public"."sales" "t1" WHERE (("t1"."ts" >= (TIMESTAMP '2024-01-01 00:00:00.000')) AND ("t1"."ts" < (TIMESTAMP '2024-02-01 00:00:00.000'))) GROUP BY 1 HAVING (COUNT(1) > 0)

-- @ analytic/bi2
SELECT DATE_TRUNC('month', "source"."created_at") AS "created_at", COUNT(*) AS "count" FROM (SELECT "public"."orders"."created_at" AS "created_at" FROM "public"."orders") AS "source" WHERE CAST("source"."created_at" AS date) BETWEEN CAST(NOW() + INTERVAL '-30 day' AS date) AND CAST(NOW() AS date) GROUP BY DATE_TRUNC('month', "source"."created_at") ORDER BY 1 ASC

-- @ analytic/grafana
SELECT floor(extract(epoch from ts)/60)*60 AS "time", host AS metric, avg(value) AS "value" FROM metrics WHERE ts BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-01T06:00:00Z' GROUP BY 1, 2 ORDER BY 1

-- @ analytic/scalar
SELECT (SELECT max(ts) FROM t), ((SELECT 1) + 1), (SELECT count(*) FROM u WHERE u.id = t.id) AS n FROM t WHERE (a, b) = (SELECT 1, 2)

-- @ analytic/tablecmd
TABLE events

-- @ analytic/forupdate
SELECT * FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED

-- @ analytic/pgxtypes
select t.oid, t.typname, t.typtype, t.typbasetype, t.typelem, t.typrelid, t.typarray from pg_type t left join pg_class c on t.typrelid = c.oid where t.typname = $1 and (c.relkind is null or c.relkind = 'c')

-- @ analytic/pgxenum
select enumlabel from pg_enum where enumtypid=$1 order by enumsortorder

-- @ analytic/npgsql
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, CASE WHEN elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype, CASE WHEN proc.proname='array_recv' THEN typ.typelem WHEN typ.typtype='r' THEN rngsubtype WHEN typ.typtype='m' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid) WHEN typ.typtype='d' THEN typ.typbasetype END AS elemtypoid FROM pg_type AS typ LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid) LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)) AS typ LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid) LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive) AS t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind='c') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 ELSE 1 END

-- @ analytic/psql16_d
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END as "Type" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','') AND n.nspname OPERATOR(pg_catalog.~) '^(public)$' COLLATE pg_catalog.default AND n.nspname !~ '^pg_toast' ORDER BY 1,2

-- @ analytic/insert1
INSERT INTO t (id, name, ts) VALUES (1, 'a', now()), ($1, $2::text, DEFAULT) RETURNING id, name AS n

-- @ analytic/insert2
INSERT INTO t SELECT id, name FROM u WHERE id > 10

-- @ analytic/upsert
INSERT INTO kv (k, v) VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET v = excluded.v + 1 WHERE kv.v < 10 RETURNING *

-- @ analytic/upsert2
INSERT INTO kv VALUES ('a', 1) ON CONFLICT DO NOTHING

-- @ analytic/insertdef
INSERT INTO t DEFAULT VALUES

-- @ analytic/update
UPDATE t SET a = a + 1, b = $1::jsonb WHERE id = ANY($2) RETURNING a

-- @ analytic/updatefrom
UPDATE t SET a = u.b FROM u WHERE u.id = t.id

-- @ analytic/delete
DELETE FROM t WHERE ts < now() - interval '7 days'

-- @ analytic/deleteusing
DELETE FROM t USING u WHERE u.id = t.id RETURNING t.id

-- @ analytic/copyin
COPY t (a, b) FROM STDIN WITH (FORMAT csv, HEADER true, DELIMITER ',')

-- @ analytic/copyout
COPY (SELECT a::text FROM t WHERE b ~ 'x') TO STDOUT WITH CSV HEADER

-- @ analytic/declare
DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT id::text FROM t ORDER BY 1

-- @ analytic/fetch
FETCH FORWARD 100 FROM c

-- @ analytic/close
CLOSE ALL

-- @ analytic/begin
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY

-- @ analytic/starttx
START TRANSACTION READ WRITE

-- @ analytic/savepoint
SAVEPOINT a

-- @ analytic/release
RELEASE SAVEPOINT a

-- @ analytic/set1
SET search_path TO public, "$user"

-- @ analytic/set2
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED

-- @ analytic/set3
SET LOCAL statement_timeout = '5s'

-- @ analytic/set4
SET TIME ZONE 'UTC'

-- @ analytic/set6
SET NAMES 'utf8'

-- @ analytic/show1
SHOW server_version

-- @ analytic/show3
SHOW ALL

-- @ analytic/reset
RESET ALL

-- @ analytic/prepare
PREPARE q (int, text) AS SELECT * FROM t WHERE id = $1 AND name = $2

-- @ analytic/execute
EXECUTE q (1, 'a'::text)

-- @ analytic/dealloc
DEALLOCATE ALL

-- @ analytic/explain
EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) SELECT a::int FROM t WHERE b ~ 'x'

-- @ analytic/explain2
EXPLAIN ANALYZE SELECT count(*) FILTER (WHERE a) FROM t

-- @ analytic/discard
DISCARD ALL

-- @ analytic/listen
LISTEN ch

-- @ analytic/createtable
CREATE TABLE IF NOT EXISTS public.t (id bigserial PRIMARY KEY, name text NOT NULL DEFAULT 'x', ts timestamptz DEFAULT now(), tags text[], j jsonb, n numeric(10,2) CHECK (n > 0), CONSTRAINT u UNIQUE (name, ts))

-- @ analytic/createview
CREATE OR REPLACE VIEW v AS SELECT id, count(*) FILTER (WHERE x) AS n FROM t GROUP BY id

-- @ analytic/createstream
CREATE STREAM events (ts timestamptz, user_id bigint, url text, latency double precision, WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (retention = '7 days', partitions = 4)

-- @ analytic/createcv
CREATE CONTINUOUS VIEW per_minute WITH (ttl = '30 days') AS SELECT date_trunc('minute', ts) AS m, url, APPROX_DISTINCT(user_id) AS u, APPROX_QUANTILE(latency, 0.99) AS p99 FROM events GROUP BY m, url

-- @ analytic/subscribe
SUBSCRIBE (SELECT m, u::bigint FROM per_minute WHERE url ~ '^/api') WITH (SNAPSHOT = true)

-- @ analytic/drop
DROP VIEW IF EXISTS v CASCADE

-- @ analytic/droptable
DROP TABLE IF EXISTS a, b

-- @ analytic/truncate
TRUNCATE TABLE t

-- @ analytic/alter
ALTER TABLE t ADD COLUMN x text

-- @ analytic/analyze
ANALYZE t

-- @ access/grant
GRANT SELECT, UPDATE ON t, s.u TO ann, public WITH GRANT OPTION

-- @ access/revoke
REVOKE GRANT OPTION FOR ALL ON ALL TABLES IN SCHEMA s FROM current_user CASCADE

-- @ access/role
GRANT a TO b WITH ADMIN OPTION
