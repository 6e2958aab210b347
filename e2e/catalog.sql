-- What the catalogs say of a table and a view. Run by e2e/parts/postgres.sh against TallyDB
-- and PostgreSQL 15; what they print has to be the same.
\pset null '<NULL>'
\x
DROP TABLE IF EXISTS ict; 
CREATE TABLE ict (a int NOT NULL, b varchar(40) DEFAULT 'x', c numeric(8,2), d timestamptz, e text[], f timestamp(3), g interval, h char(5), i float8, j bool, k bytea, l uuid, m jsonb, n date, o time, p int8, q int2, r text, PRIMARY KEY (a, b));
SELECT table_name,column_name,ordinal_position,column_default,is_nullable,data_type,character_maximum_length,character_octet_length,numeric_precision,numeric_precision_radix,numeric_scale,datetime_precision,interval_type,interval_precision,character_set_name,collation_name,domain_name,udt_catalog,udt_schema,udt_name,scope_name,maximum_cardinality,dtd_identifier,is_self_referencing,is_identity,identity_generation,identity_cycle,is_generated,generation_expression,is_updatable FROM information_schema.columns WHERE table_name='ict' ORDER BY 3;
SELECT * FROM information_schema.tables WHERE table_name='ict';
SELECT constraint_schema, constraint_type, table_name, is_deferrable, initially_deferred, enforced FROM information_schema.table_constraints WHERE table_name='ict' and constraint_type='PRIMARY KEY';
SELECT * FROM information_schema.key_column_usage WHERE table_name='ict' ORDER BY ordinal_position;
SELECT * FROM information_schema.constraint_column_usage WHERE table_name='ict' ORDER BY column_name;
SELECT grantor, grantee, table_name, privilege_type, is_grantable, with_hierarchy FROM information_schema.table_privileges WHERE table_name='ict' ORDER BY privilege_type;
SELECT grantee, column_name, privilege_type FROM information_schema.column_privileges WHERE table_name='ict' AND column_name='a' ORDER BY 3;
SELECT * FROM information_schema.element_types WHERE object_name='ict';
SELECT schemaname, tablename, tableowner, tablespace, hasindexes, hasrules, hastriggers, rowsecurity FROM pg_tables WHERE tablename='ict';
SELECT schemaname, tablename, indexname, indexdef FROM pg_indexes WHERE tablename='ict';
SELECT relname, relkind, relpersistence, relnatts, relhasindex, relchecks, relhasrules, relhastriggers, relrowsecurity, relreplident, relispartition, relhassubclass FROM pg_class WHERE relname LIKE 'ict%' ORDER BY 1;
SELECT attname, format_type(atttypid, atttypmod), attlen, attnum, attndims, atttypmod, attbyval, attalign, attstorage, attnotnull, atthasdef, attidentity, attgenerated, attisdropped, attislocal, attinhcount FROM pg_attribute WHERE attrelid='ict'::regclass AND attnum > 0 ORDER BY attnum;
SELECT conname, contype, condeferrable, condeferred, convalidated, conkey, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid='ict'::regclass AND contype='p';
SELECT indnatts, indnkeyatts, indisunique, indisprimary, indisexclusion, indimmediate, indisclustered, indisvalid, indisready, indislive, indkey, indoption, pg_get_indexdef(indexrelid), pg_get_indexdef(indexrelid, 1, true) FROM pg_index WHERE indrelid='ict'::regclass;
SELECT pg_get_expr(adbin, adrelid), adnum FROM pg_attrdef WHERE adrelid='ict'::regclass;
SELECT has_table_privilege('ict', 'SELECT'), has_column_privilege('ict', 'a', 'SELECT'), pg_table_is_visible('ict'::regclass), to_regclass('nosuch'), col_description('ict'::regclass, 1), obj_description('ict'::regclass);
CREATE VIEW icv AS SELECT a, b AS bb, c + 1 AS d FROM ict;
SELECT table_name, table_type FROM information_schema.tables WHERE table_name='icv';
SELECT column_name, data_type, is_nullable, numeric_precision, character_maximum_length FROM information_schema.columns WHERE table_name='icv' ORDER BY ordinal_position;
SELECT table_schema, table_name, check_option, is_trigger_updatable FROM information_schema.views WHERE table_name='icv';
SELECT schemaname, viewname, viewowner FROM pg_views WHERE viewname='icv';
SELECT ev_type, is_instead, rulename FROM pg_rewrite WHERE ev_class='icv'::regclass;
SELECT n, x FROM (SELECT (information_schema._pg_expandarray(indkey)).n, (information_schema._pg_expandarray(indkey)).x FROM pg_index WHERE indrelid = 'ict'::regclass) z;
SELECT typname, typlen, typtype, typcategory, typispreferred, typelem::regtype, typarray::regtype, typinput, typreceive, typnotnull, typbasetype FROM pg_type WHERE typname IN ('int4','_int4','text','timestamptz','numeric','jsonb','uuid') ORDER BY 1;
SELECT role_name FROM information_schema.enabled_roles WHERE role_name = 'tally';
SELECT datname, pg_encoding_to_char(encoding), datcollate, datallowconn, datistemplate FROM pg_database WHERE datname='tally';
SELECT name, setting, unit, vartype, context FROM pg_settings WHERE name IN ('DateStyle','statement_timeout','max_index_keys','standard_conforming_strings','client_encoding','search_path','lock_timeout','application_name') ORDER BY name;
DROP VIEW icv; DROP TABLE ict;
