-- Statements that cover every clause of PostgreSQL that TallyDB has, compared tree by tree.

-- @ clause-001
select 1, 1.5, .5, 1e10, 1.e-3, 'it''s', E'a\nb\t\\x41\u0041\101', U&'d\0061t\+000061', U&'d!0061' uescape '!', B'101', X'1Ff', $$dollar $ quoted$$, $tag$a $$ b$tag$, N'national'

-- @ clause-002
select 'a'  
  'b' as continued

-- @ clause-003
select null, true, false, $1, $2::int4

-- @ clause-004
select "Quoted", "we""ird", "a b".c, Ünïcode, _x$1 from "T"

-- @ clause-005
select /* outer /* nested */ still */ 1 -- trailing

-- @ clause-006
select t.a, s.t.a, t.*, s.t.*, * from s.t

-- @ clause-007
select all a from t

-- @ clause-008
select distinct a from t

-- @ clause-009
select distinct on (a, b + 1) a, b from t order by a, b + 1, c desc

-- @ clause-010
select

-- @ clause-011
select from t

-- @ clause-012
select where true

-- @ clause-013
select a as select, b "from", c d, e day_, f as year, g value from t

-- @ clause-014
select a between 1 and 2, a not between 1 and 2, a between symmetric 2 and 1, a not between symmetric 2 and 1 and b, a between asymmetric 1 and 2

-- @ clause-015
select a in (1, 2), a not in (1), a in (select 1), (a, b) in (select 1, 2), (a, b) in ((1, 2), (3, 4)), a not in (values (1))

-- @ clause-016
select a like 'x', a not like 'x', a like 'x' escape '!', a ilike 'x', a not ilike 'x' escape '', a similar to 'x', a not similar to 'x' escape '#'

-- @ clause-017
select a is null, a is not null, a isnull, a notnull, a is true, a is not true, a is false, a is not false, a is unknown, a is not unknown

-- @ clause-018
select a is distinct from b, a is not distinct from b + 1, a is distinct from null and c

-- @ clause-019
select not a = b, not a is null, not (a and b), not not a, a = not b

-- @ clause-020
select a or b and c or not d and e

-- @ clause-021
select (a or b) and (c or d), a and (b and c), (a and b) and c, (a or b) or c, a or (b or c)

-- @ clause-022
select a + b * c - d / e % f ^ g, a - b - c, a - (b - c), a / b / c, a ^ b ^ c, (a ^ b) ^ c, a ^ (b ^ c)

-- @ clause-023
select -a, +a, - -a, -a ^ 2, -(a ^ 2), -1, - 1, -1.5, -a::int, (-1)::int, -x * y

-- @ clause-024
select a || b || c, a || (b || c), a -> 'x' -> 'y' ->> 'z', a #> '{x}', a #>> '{x}', a @> b, a <@ b, a ? 'k', a ?| b, a ?& b, a #- b, a @? b, a @@ b

-- @ clause-025
select a ~ 'x', a ~* 'x', a !~ 'x', a !~* 'x', a ~~ 'x', a !~~* 'x', a && b, a << b, a >> b, a & b | c # d, ~a, @ a, !! a, |/ a, ||/ a, a <-> b, a -|- b, a <% b

-- @ clause-026
select a + b || c, a || b + c, a || b = c, a = b || c, (a < b) = (c < d), a @> b and c, - a || b, a || - b, a->>'x' = 'y', a->>'x' like 'y%', a || b like c || d

-- @ clause-027
select a operator(pg_catalog.+) b, a operator(pg_catalog.~) '^x$' collate pg_catalog.default, operator(pg_catalog.-) a, a operator(+) b * c

-- @ clause-028
select a <> b, a != b, a >= b, a <= b, a=b, a=-1, a<-1, a>-b, a*-1

-- @ clause-029
select a = any (b), a = some (array[1, 2]), a <> all ('{1,2}'::int[]), a > any (select 1), a < all (values (1), (2)), a like any (array['x']), a not ilike all (b), a ~ any (c), a + 1 = any (b), a = any ((select b)::int[])

-- @ clause-030
select case when a then b end, case a when 1 then 'x' when 2 then 'y' else 'z' end, case when a = 1 or b then not c else d is null end

-- @ clause-031
select a::int, a::pg_catalog.int4, cast(a as text), a::varchar(10), a::numeric(10, 2), a::int[], a::text[][], a::int[3], a::int array, a::int array[4], a::timestamp(3), a::timestamp(3) with time zone, a::time without time zone, a::timetz, a::"char", a::char, a::char(3), a::character varying, a::bit, a::bit varying(5), a::double precision, a::float, a::float(10), a::float(30), a::real, a::dec(3), a::bigint, a::smallint, a::boolean, a::national character varying(3), a::nchar(2), a::my.type, a::"My Type"(3)

-- @ clause-032
select date '2020-01-01', timestamp '2020-01-01 00:00', timestamptz 'now', timestamp with time zone '2020-01-01', timestamp(3) with time zone '2020-01-01', time '10:00', interval '1 day', interval '1' day, interval '1 2:03' day to minute, interval '1.5' second(2), interval(3) '1.234567 s', interval '1' year to month, int '1', bool 'true', numeric '1.5', double precision '1', json '{}', my.type 'x', "Type" 'y', bpchar 'z', char 'q', float '1', bit '101', varchar(3) 'abc'

-- @ clause-033
select a::interval year, a::interval day to second(3), a::interval(3), a::interval hour to second

-- @ clause-034
select a collate "C", a || b collate "de_DE", a collate pg_catalog."default" < b, (a < b) collate x

-- @ clause-035
select a at time zone 'UTC', a at time zone 'UTC' at time zone b, a + b at time zone c, a::timestamp at time zone 'x' + interval '1 day', timezone('UTC', a)

-- @ clause-036
select extract(year from a), extract('epoch' from a), extract("Dow" from a::timestamp), extract(epoch from a - b)

-- @ clause-037
select position('a' in b), position(a || 'x' in b), substring(a from 1), substring(a from 1 for 2), substring(a for 2), substring(a for 2 from 1), substring(a similar 'x' escape '#'), substring(a, 1, 2), substring(a from 'regex'), overlay(a placing b from 1), overlay(a placing b from 1 for 2), overlay(a, b, 1)

-- @ clause-038
select trim(a), trim(both from a), trim(leading 'x' from a), trim(trailing from a), trim('x' from a), trim(a, 'x'), trim(both 'x' from a || b), btrim(a)

-- @ clause-039
select coalesce(a, b, 1), nullif(a, b), greatest(a, b), least(a), grouping(a, b)

-- @ clause-040
select current_date, current_time, current_time(3), current_timestamp, current_timestamp(6), localtime, localtimestamp(0), current_role, current_user, session_user, user, current_catalog, current_schema, current_schema(), current_schemas(true)

-- @ clause-041
select f(), f(a), s.f(a, b), f(distinct a), f(all a), f(*), count(*), f(a order by b desc nulls last, c), f(distinct a order by a), f(variadic a), f(a, variadic b), f(x => 1, y := 2), f(a, b => c + 1)

-- @ clause-042
select "Coalesce"(a), "extract"(a, b), "substring"(a), pg_catalog.substring(a, b), left(a, 1), right(a, 1)

-- @ clause-043
select count(*) filter (where a > 1), sum(a) filter (where b) over w, f(a) over (), f(a) over (w), f(a) over (w partition by b), f(a) over (partition by a, b order by c desc) from t window w as (order by z)

-- @ clause-044
select percentile_cont(0.5) within group (order by a desc), mode() within group (order by a), rank(1, 2) within group (order by a, b) filter (where c), s.agg(a) within group (order by b)

-- @ clause-045
select f(a) over (rows unbounded preceding), f(a) over (order by a rows between unbounded preceding and unbounded following), f(a) over (range between interval '1 day' preceding and current row), f(a) over (groups between 1 preceding and 2 following exclude current row), f(a) over (rows between a + 1 preceding and $1 following exclude group), f(a) over (rows 2 preceding exclude ties), f(a) over (rows current row exclude no others), f(a) over (rows between current row and 5 following)

-- @ clause-046
select array[1, 2], array[]::int[], array[[1, 2], [3, 4]], array(select 1), array(select a from t order by a), (array[1, 2])[1], array[array[1], array[2]], array[a, b || c]

-- @ clause-047
select a[1], a[1][2], a[1:2], a[:2], a[1:], a[:], a[b + 1][c:d], t.a[1], (f(x))[1], (a.b).c, (a).b.c, (f(x)).y, (f(x)).*, (t.a).b[1], a[1].b, $1[1], $1.x, ((a)).b

-- @ clause-048
select row(1, 2), row(), row(a), (a, b), (a, b) = (c, d), row(a, b) = row(c, d), (a, b) is null, row(t.*), (a, b) < (c, d), (1, (2, 3))

-- @ clause-049
select exists (select 1), not exists (select 1 from t where a = b), (select 1), (select a from t limit 1) + 1, ((select 1)), (select (select 1)), ((select 1) + 1), (((select 1)))

-- @ clause-050
select (a, b) overlaps (c, d), (date '2020-01-01', interval '1 day') overlaps (date '2020-01-01', date '2020-01-02')

-- @ clause-051
select f(t.*), count(t.*), t from t

-- @ clause-052
select * from a, b, c

-- @ clause-053
select * from a, b cross join c, d

-- @ clause-054
select * from a join b on a.x = b.x, c left join d using (e, f)

-- @ clause-055
select * from a join b on true left join c on true right join d on true full join e on true cross join f natural join g natural left join h natural full join i natural right outer join j inner join k using (z) full outer join l using (y)

-- @ clause-056
select * from a join b join c on b.x = c.x on a.x = b.x

-- @ clause-057
select * from a left join b inner join c on b.x = c.x on a.x = b.x join d on true

-- @ clause-058
select * from (a join b on true) join c on true

-- @ clause-059
select * from a join (b join c on true) on true

-- @ clause-060
select * from (a cross join b) as x

-- @ clause-061
select * from (a join b using (id)) as x (c, d)

-- @ clause-062
select * from ((a join b on true))

-- @ clause-063
select * from (select 1) x, (select 2) as y (a, b), lateral (select x.a) z, (values (1, 2), (3, 4)) v (a, b), (table t) w

-- @ clause-064
select * from ((select 1)) x, ((select 1) union (select 2)) y, (select 1 union select 2) z

-- @ clause-065
select * from only t, only (u), v *, s.t as w, s.t x (a, b)

-- @ clause-066
select * from f(1), f(1) a, f(1) as a (b, c), s.f(x, y => 2) z, f() with ordinality, f() with ordinality as t (a, n), lateral f(t.a) u, f() as (a int, b text), f() as t (a int, b numeric(3, 2)[]), current_date, generate_series(1, 10) as g

-- @ clause-067
select * from unnest(array[1, 2]) with ordinality u (x, n) where n > 1

-- @ clause-068
select * from a left join lateral (select * from b where b.x = a.x limit 1) c on true, lateral generate_series(1, a.n) as g (i)

-- @ clause-069
select * from tumble(clicks, event_time, interval '1 minute') w

-- @ clause-070
select a from t where a > 1 group by a, b + 1, 1 having count(*) > 1 and sum(x) < 2

-- @ clause-071
select a from t group by (), (a), (a, b), rollup (a, (b, c)), cube (a, b), grouping sets ((a), (a, b), (), rollup (c), grouping sets (d))

-- @ clause-072
select a from t group by distinct rollup (a, b), rollup (a, c)

-- @ clause-073
select a from t group by all a

-- @ clause-074
select a, row_number() over w1 from t window w1 as (partition by a), w2 as (w1 order by b), w3 as (rows 1 preceding)

-- @ clause-075
select a from t order by a, b asc, c desc, d nulls first, e asc nulls last, f desc nulls first, g + 1, 1 desc

-- @ clause-076
select a from t limit 10

-- @ clause-077
select a from t limit 10 offset 5

-- @ clause-078
select a from t offset 5 limit 10

-- @ clause-079
select a from t offset 5

-- @ clause-080
select a from t offset 5 rows

-- @ clause-081
select a from t limit all

-- @ clause-082
select a from t limit null offset 1

-- @ clause-083
select a from t limit $1 offset $2::bigint + 1

-- @ clause-084
select a from t limit (select count(*) from u) offset 2 * 3

-- @ clause-085
select a from t fetch first row only

-- @ clause-086
select a from t fetch first 5 rows only

-- @ clause-087
select a from t offset 2 rows fetch next (1 + 2) rows only

-- @ clause-088
select a from t order by a fetch first 3 rows with ties

-- @ clause-089
select a from t for update

-- @ clause-090
select a from t for no key update of t nowait

-- @ clause-091
select a from t, u for share of t for key share of u skip locked

-- @ clause-092
select a from t order by b limit 3 for update skip locked

-- @ clause-093
select a from t for update limit 3

-- @ clause-094
values (1, 'a'), (2, 'b')

-- @ clause-095
values (1), (2) order by 1 limit 1

-- @ clause-096
table t

-- @ clause-097
table s.t order by a limit 3

-- @ clause-098
select 1 union select 2 union all select 3

-- @ clause-099
select 1 union (select 2 union all select 3)

-- @ clause-100
(select 1 union select 2) union all select 3

-- @ clause-101
select 1 intersect select 2 union select 3 except select 4

-- @ clause-102
select 1 union select 2 intersect select 3

-- @ clause-103
(select 1 union select 2) intersect select 3

-- @ clause-104
select 1 except all select 2 intersect all select 3

-- @ clause-105
select 1 except select 2 except select 3

-- @ clause-106
select 1 except (select 2 except select 3)

-- @ clause-107
select 1 union distinct select 2

-- @ clause-108
(select 1 order by 1 limit 1) union (select 2 offset 3) order by 1 limit 5

-- @ clause-109
(select 1) order by 1

-- @ clause-110
(select 1 limit 1) order by 1

-- @ clause-111
((select 1)) limit 2

-- @ clause-112
(values (1)) union table t

-- @ clause-113
select 1 union values (2)

-- @ clause-114
with a as (select 1) select * from a

-- @ clause-115
with a (x, y) as (values (1, 2)), b as materialized (select 1), c as not materialized (select 2) select * from a, b, c

-- @ clause-116
with recursive t (n) as (values (1) union all select n + 1 from t where n < 100) select sum(n) from t

-- @ clause-117
with a as (with b as (select 1) select * from b) select * from a

-- @ clause-118
with a as (select 1 union select 2) select 1 union select * from a order by 1

-- @ clause-119
(with a as (select 1) select * from a) union all (with b as (select 2) select * from b limit 1)

-- @ clause-120
select * from (with a as (select 1) select * from a) x where y in (with z as (select 1) select * from z)

-- @ clause-121
with a as (select 1) (select * from a limit 1) order by 1

-- @ clause-122
select a from t where (select b from u where u.x = t.x) > 1 and exists (select from v) or c in (select d from w union select e from x)

-- @ clause-123
insert into t values (1, 'a', null, true, -1, +2.5, default, $1, '2020-01-01'::date, 'x'::text::varchar(3))

-- @ clause-124
insert into t (a, b) values (1, 2), (3, 4), (5, 6)

-- @ clause-125
insert into s.t (a) values (now()), (1 + 1), ((select 1)), (array[1])

-- @ clause-126
insert into t (a, b) select x, y from u where z

-- @ clause-127
insert into t (a) (select 1)

-- @ clause-128
insert into t (select 1 union select 2)

-- @ clause-129
insert into t default values

-- @ clause-130
insert into t as x (a) values (1) on conflict do nothing

-- @ clause-131
insert into t (a, b) values (1, 2) on conflict (a) do update set b = excluded.b, c = x.d + 1 where x.a > 1

-- @ clause-132
insert into t (a) values (1) on conflict (a, b) where c > 1 do nothing

-- @ clause-133
insert into t (a) values (1) on conflict on constraint t_pkey do update set (a, b) = (1, 2), c = default

-- @ clause-134
insert into t (a) values (1) returning *

-- @ clause-135
insert into t (a) values (1) returning a, b + 1 as c, t.*

-- @ clause-136
insert into t values (1) union values (2)

-- @ clause-137
insert into t values (1) order by 1 limit 1

-- @ clause-138
with a as (select 1) insert into t select * from a returning x

-- @ clause-139
insert into t with a as (select 1) select * from a

-- @ clause-140
update t set a = 1

-- @ clause-141
update only t as x set a = 1, b = default, c = x.a + 1 where x.b = 2

-- @ clause-142
update t set (a, b) = (1, 2), (c, d) = (select 1, 2), (e) = row(3)

-- @ clause-143
update t set a = u.a from u join v on true, w where t.id = u.id returning t.a, u.*

-- @ clause-144
update t x set a = 1

-- @ clause-145
with a as (select 1) update t set b = 1 from a where t.c in (select * from a)

-- @ clause-146
delete from t

-- @ clause-147
delete from only s.t as x using u, v join w on true where x.a = u.a returning *

-- @ clause-148
with a as (select 1), b (c) as (select 2) delete from t where x in (select * from a)

-- @ clause-149
truncate t

-- @ clause-150
truncate table a, s.b restart identity cascade

-- @ clause-151
copy t from stdin

-- @ clause-152
copy s.t (a, b) from stdin with (format csv, header true, delimiter ',', null '', quote '"', escape '\', force_null (a, b), force_not_null (a), encoding 'UTF8', on_error ignore)

-- @ clause-153
copy t from stdin (format csv, header match)

-- @ clause-154
copy t to stdout (format csv, force_quote *)

-- @ clause-155
copy t to stdout (format binary)

-- @ clause-156
copy t from stdin csv header delimiter as ',' null as 'x' quote '"' escape '"' force not null a, b force null c

-- @ clause-157
copy t to stdout with csv force quote a, b encoding 'UTF8'

-- @ clause-158
copy t to stdout csv force quote *

-- @ clause-159
copy binary t from stdin

-- @ clause-160
copy t from stdin with delimiter '|'

-- @ clause-161
copy t from stdin where a > 1

-- @ clause-162
copy (select a, b from t where c) to stdout

-- @ clause-163
copy (insert into t values (1) returning a) to stdout

-- @ clause-164
copy t from '/tmp/x' csv

-- @ clause-165
create table t (a int primary key, b text not null, c numeric(3, 2) default 1.5, d timestamptz default now(), e int check (e > 0), f varchar(3) collate "C", g int unique, h int[])

-- @ clause-166
create table if not exists s.t (a int, b int, constraint pk primary key (a, b), unique (a), constraint ck check (a > b), check (a > 0))

-- @ clause-167
create temp table t (a int)

-- @ clause-168
create temporary table t (a int)

-- @ clause-169
create unlogged table t ()

-- @ clause-170
create table t (a int) with (fillfactor = 70, x.y = on, z)

-- @ clause-171
create table t as select 1 as a

-- @ clause-172
create table if not exists t (a, b) as values (1, 2) with no data

-- @ clause-173
create table t as select 1 with data

-- @ clause-174
create view v as select 1

-- @ clause-175
create or replace view s.v (a, b) as select 1, 2 union select 3, 4

-- @ clause-176
create temp view v with (security_barrier = true) as values (1)

-- @ clause-177
create schema s

-- @ clause-178
create schema if not exists s

-- @ clause-179
create database d

-- @ clause-180
create database d with encoding 'UTF8' template = template0 connection limit 5

-- @ clause-181
drop table a

-- @ clause-182
drop table if exists a, s.b cascade

-- @ clause-183
drop view v restrict

-- @ clause-184
drop schema if exists s cascade

-- @ clause-185
drop database if exists d

-- @ clause-186
alter table t add column a int not null

-- @ clause-187
alter table if exists t add column if not exists a text default 'x'

-- @ clause-188
alter table t drop column if exists a cascade

-- @ clause-189
alter table t rename column a to b

-- @ clause-190
alter table t rename a to b

-- @ clause-191
alter table t rename to u

-- @ clause-192
comment on table t is 'it''s'

-- @ clause-193
comment on column s.t.a is null

-- @ clause-194
explain select 1

-- @ clause-195
explain analyze select 1

-- @ clause-196
explain analyze verbose insert into t values (1)

-- @ clause-197
explain (analyze, verbose, format json) select 1

-- @ clause-198
explain (costs off, buffers true, format 'text') (select 1)

-- @ clause-199
explain create table t as select 1

-- @ clause-200
prepare p as select $1

-- @ clause-201
prepare p (int, text, numeric(3, 2)) as insert into t values ($1, $2, $3) returning a

-- @ clause-202
execute p

-- @ clause-203
execute p (1, 'a', now(), $1)

-- @ clause-204
deallocate p

-- @ clause-205
deallocate prepare p

-- @ clause-206
deallocate all

-- @ clause-207
declare c cursor for select 1

-- @ clause-208
declare c binary insensitive scroll cursor with hold for select 1 order by 1

-- @ clause-209
declare c no scroll cursor without hold for values (1)

-- @ clause-210
fetch c

-- @ clause-211
fetch from c

-- @ clause-212
fetch next from c

-- @ clause-213
fetch prior in c

-- @ clause-214
fetch first from c

-- @ clause-215
fetch last from c

-- @ clause-216
fetch absolute -3 from c

-- @ clause-217
fetch relative 2 from c

-- @ clause-218
fetch 10 c

-- @ clause-219
fetch -10 from c

-- @ clause-220
fetch all from c

-- @ clause-221
fetch all c

-- @ clause-222
fetch forward c

-- @ clause-223
fetch forward 5 from c

-- @ clause-224
fetch forward all in c

-- @ clause-225
fetch backward from c

-- @ clause-226
fetch backward all from c

-- @ clause-227
fetch backward 7 from c

-- @ clause-228
move 5 from c

-- @ clause-229
move forward all in c

-- @ clause-230
close c

-- @ clause-231
close all

-- @ clause-232
set x to 1

-- @ clause-233
set x = 'a', b, 3, -1.5, on, true

-- @ clause-234
set session x to default

-- @ clause-235
set local x.y = 'z'

-- @ clause-236
set search_path to public, "My Schema"

-- @ clause-237
set time zone 'UTC'

-- @ clause-238
set time zone -7

-- @ clause-239
set time zone local

-- @ clause-240
set time zone default

-- @ clause-241
set time zone interval '-08:00' hour to minute

-- @ clause-242
set names 'utf8'

-- @ clause-243
set schema 'x'

-- @ clause-244
set transaction isolation level read committed

-- @ clause-245
set transaction read only, deferrable

-- @ clause-246
set session characteristics as transaction isolation level serializable read write not deferrable

-- @ clause-247
set transaction snapshot 'abc'

-- @ clause-248
set session authorization default

-- @ clause-249
set datestyle to iso, mdy

-- @ clause-250
reset x

-- @ clause-251
reset x.y

-- @ clause-252
reset all

-- @ clause-253
reset time zone

-- @ clause-254
show x

-- @ clause-255
show x.y

-- @ clause-256
show all

-- @ clause-257
show time zone

-- @ clause-258
show transaction isolation level

-- @ clause-259
show search_path

-- @ clause-260
begin

-- @ clause-261
begin work

-- @ clause-262
begin transaction isolation level repeatable read, read only, not deferrable

-- @ clause-263
start transaction isolation level read uncommitted read write

-- @ clause-264
commit

-- @ clause-265
commit work

-- @ clause-266
commit and chain

-- @ clause-267
end

-- @ clause-268
end transaction and no chain

-- @ clause-269
rollback

-- @ clause-270
rollback transaction and chain

-- @ clause-271
abort

-- @ clause-272
savepoint s

-- @ clause-273
release savepoint s

-- @ clause-274
release s

-- @ clause-275
rollback to savepoint s

-- @ clause-276
rollback work to s

-- @ clause-277
discard all

-- @ clause-278
discard temp

-- @ clause-279
discard temporary

-- @ clause-280
discard plans

-- @ clause-281
discard sequences

-- @ clause-282
listen c

-- @ clause-283
notify c

-- @ clause-284
notify c, 'payload'

-- @ clause-285
unlisten c

-- @ clause-286
unlisten *

-- @ clause-287
vacuum

-- @ clause-288
vacuum t

-- @ clause-289
vacuum (full, analyze) t, s.u (a, b)

-- @ clause-290
vacuum analyze t

-- @ clause-291
analyze

-- @ clause-292
analyze t (a)

-- @ clause-293
analyze verbose t

-- @ clause-294
select 1 as "Ünï", 'héllo', a.ü from a where b = '日本語'

-- @ clause-295
select 0x1F, 0o17, 0b101, 1_000_000

-- @ clause-297
select a from t where a > $1 and b = any ($2) or c < $3 order by $4

-- @ clause-298
select interval '1 day' * 2, - interval '1 day', now() - interval '1 day'

-- @ clause-299
select 1::int4::int8::text, (1)::text, 'a'::text || 'b', a::text[1]

-- @ clause-300
select 9223372036854775808, 2147483648, 123456789012345678901234567890, 1.0e400

-- @ clause-301
select a < b and b < c, (a < b) = (b < c), a = (b = c), (a is null) is null, a is null = b, (a between 1 and 2) is true, a is null is null

-- @ clause-302
select not a between 1 and 2, not a like 'b', not a in (1), not exists (select 1)

-- @ clause-303
select a.a, b.b from (select 1 as a) a join (select 2 as b) b on a.a = b.b where (a.a, b.b) = (1, 2) and a.a is not null

-- @ clause-304
create table c (id int primary key, p int references p, q int constraint named references s.p (id) match full on delete cascade on update set null deferrable initially deferred, r int not null references p on delete set default on update restrict)

-- @ clause-305
create table c (a int, b int, constraint two foreign key (a, b) references p (x, y) on delete set null (b) on update no action not deferrable, foreign key (a) references p)

-- @ clause-306
create table c (id int constraint pk primary key, a int constraint one unique)

-- @ clause-307
alter table c add foreign key (a) references p (id) on delete set default (a) not valid

-- @ clause-308
alter table c add constraint x foreign key (a) references p match simple deferrable initially immediate, drop constraint y cascade

-- @ clause-309
alter table c validate constraint x, alter column a set not null

-- @ clause-310
alter table c alter constraint x deferrable initially deferred

-- @ clause-311
set constraints all deferred

-- @ clause-312
set constraints a, s.b immediate

-- @ clause-313
with x as (insert into t (a) values (1) returning *), y (n) as (update t set a = 2 where b returning a), z as (delete from t using u where t.a = u.a) select * from x, y

-- @ clause-314
with x as (with y as (select 1) delete from t where a in (table y) returning a) insert into u select a from x on conflict do nothing

-- @ clause-315
merge into t as x using (select * from s) y on x.id = y.id and y.n > 0 when matched and y.n = 1 then delete when matched then update set n = y.n, (a, b) = (1, default) when not matched and y.n is null then do nothing when not matched then insert (id, n) overriding system value values (y.id, default)

-- @ clause-316
with s as (select 1 as id) merge into only t using s join u on s.id = u.id on t.id = s.id when not matched then insert default values when matched then do nothing

-- @ clause-317
merge into t using s on true when not matched then insert values (1, 2)

-- @ clause-318
prepare m as merge into t using s on true when matched then delete

-- @ clause-319
explain merge into t using s on true when matched then delete

-- @ clause-320
create local temp table if not exists pg_temp.t (a int) with (fillfactor = 70) on commit drop

-- @ clause-321
create global temporary table t (a int) on commit delete rows

-- @ clause-322
create temp table t (a, b) on commit preserve rows as select 1, 2

-- @ clause-323
create temp table t on commit drop as select 1 with no data

-- @ clause-324
create temp sequence s start 5

-- @ clause-325
create temporary sequence if not exists pg_temp.s
