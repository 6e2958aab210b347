-- Statements that PostgreSQL rejects. TallyDB must reject them with the same words, at the
-- same position.

-- @ error-001
select 1 +

-- @ error-002
select * from

-- @ error-003
select a from t where

-- @ error-004
select a b c

-- @ error-005
select 1 from t t2 t3

-- @ error-006
select (1

-- @ error-007
select 1)

-- @ error-008
select a,, b

-- @ error-009
select , a

-- @ error-010
select from from

-- @ error-011
select a = b = c

-- @ error-012
select a < b < c

-- @ error-013
select a like b like c

-- @ error-014
select a between 1

-- @ error-015
select a between 1 or 2

-- @ error-017
select a in ()

-- @ error-018
select case end

-- @ error-019
select case when a end

-- @ error-020
select cast(a int)

-- @ error-021
select cast(a as)

-- @ error-022
select a::

-- @ error-023
select 'abc

-- @ error-024
select E'abc

-- @ error-025
select "abc

-- @ error-026
select ""

-- @ error-027
select $$abc

-- @ error-028
select /* abc

-- @ error-029
select 12abc

-- @ error-030
select 1 as

-- @ error-031
select f(a,

-- @ error-032
select f(,a)

-- @ error-033
select f(a order b)

-- @ error-034
select count(*) over

-- @ error-035
select count(*) filter (a > 1)

-- @ error-036
select a[1

-- @ error-037
select array[1, 2

-- @ error-038
select row(1, 2

-- @ error-040
select exists 1

-- @ error-041
select * from a join b

-- @ error-042
select * from a left b

-- @ error-043
select * from a natural b

-- @ error-044
select * from a cross join b on true

-- @ error-045
select * from (select 1

-- @ error-046
select * from a, 

-- @ error-047
select * from a where b group c

-- @ error-048
select a from t order a

-- @ error-049
select a from t order by

-- @ error-050
select a from t order by a sideways

-- @ error-051
select a from t order by a nulls

-- @ error-052
select a from t limit

-- @ error-053
select a from t limit 1, 2

-- @ error-054
select a from t limit 1 limit 2

-- @ error-055
select a from t offset 1 offset 2

-- @ error-056
(select 1 order by 1) order by 2

-- @ error-057
(select 1 limit 1) limit 2

-- @ error-058
select a from t fetch first 3

-- @ error-059
select a from t for

-- @ error-060
select a union

-- @ error-061
select a union union select b

-- @ error-062
select a order by 1 union select b

-- @ error-063
values

-- @ error-064
values (

-- @ error-065
values 1

-- @ error-066
values (1), 2

-- @ error-067
with

-- @ error-068
with a select 1

-- @ error-069
with a as select 1

-- @ error-070
with a as (select 1)

-- @ error-071
with a as (select 1), select 2

-- @ error-072
with a as (select 1) (with b as (select 2) select 3)

-- @ error-073
insert t values (1)

-- @ error-074
insert into

-- @ error-075
insert into t

-- @ error-076
insert into t (a

-- @ error-077
insert into t (a) value (1)

-- @ error-078
insert into t values (1) on

-- @ error-079
insert into t values (1) on conflict

-- @ error-080
insert into t values (1) on conflict do

-- @ error-081
insert into t values (1) on conflict do update

-- @ error-082
insert into t values (1) returning

-- @ error-083
insert into t values (1), (2,

-- @ error-084
insert into t values (1) (2)

-- @ error-085
update

-- @ error-086
update t

-- @ error-087
update t set

-- @ error-088
update t set a

-- @ error-089
update t set a =

-- @ error-090
update t set a = 1 where

-- @ error-091
delete t

-- @ error-092
delete from

-- @ error-093
delete from t where

-- @ error-094
delete from t using

-- @ error-095
selec 1

-- @ error-096
foo

-- @ error-097
create

-- @ error-098
create table

-- @ error-099
create table t (a

-- @ error-100
create table t (a int

-- @ error-101
create table t (a int,)

-- @ error-102
create table t (a int primary)

-- @ error-103
create table t (primary key)

-- @ error-104
create view v

-- @ error-105
create view v as

-- @ error-106
create view v as insert into t values (1)

-- @ error-107
drop

-- @ error-108
drop table

-- @ error-109
drop table if a

-- @ error-110
drop table a b

-- @ error-111
copy

-- @ error-112
copy t

-- @ error-113
copy t from

-- @ error-114
copy t to

-- @ error-115
copy t from stdin (format

-- @ error-116
copy (select 1) from stdin

-- @ error-117
begin foo

-- @ error-118
rollback to

-- @ error-119
savepoint

-- @ error-120
set

-- @ error-121
set x

-- @ error-122
set x =

-- @ error-123
set x to

-- @ error-124
set transaction

-- @ error-125
show

-- @ error-126
show x y

-- @ error-127
reset

-- @ error-128
prepare

-- @ error-129
prepare p

-- @ error-130
prepare p as

-- @ error-131
execute

-- @ error-132
execute p (

-- @ error-133
declare c

-- @ error-134
declare c cursor

-- @ error-135
declare c cursor for

-- @ error-136
fetch

-- @ error-137
close

-- @ error-138
discard

-- @ error-139
discard foo

-- @ error-140
explain

-- @ error-141
explain analyze

-- @ error-142
explain foo

-- @ error-144
select a from t where é = 'ü' and and b

-- @ error-145
select 'é' || 'ü' 'x'

-- @ error-149
select select

-- @ error-150
select a.from.

-- @ error-152
select *.a

-- @ error-153
select 1 where where

-- @ error-154
select not

-- @ error-156
select a is not

-- @ error-157
select a is foo

-- @ error-158
select a is distinct b

-- @ error-160
select a at time

-- @ error-161
select a at time zone

-- @ error-162
select extract(year a)

-- @ error-163
select position(a b)

-- @ error-164
select trim(a from)

-- @ error-168
select int(5)

-- @ error-170
select left

-- @ error-172
select distinct on a from t

-- @ error-173
select 1 group by ()) 

-- @ error-174
select a from t group by

-- @ error-175
select a from t window

-- @ error-176
select a from t window w as

-- @ error-177
select f() over (partition a)

-- @ error-178
select f() over (order by a rows)

-- @ error-179
select f() over (order by a rows between 1 preceding)

-- @ error-180
select f() over (rows foo)

-- @ error-181
select f(variadic a, b)

-- @ error-182
select @

-- @ error-183
select a @

-- @ error-184
select a operator(

-- @ error-185
select operator(+)

-- @ error-186
select (a, b

-- @ error-187
select ()

-- @ error-189
select * from t as

-- @ error-190
select * from (values (1)) as 1

-- @ error-191
select * from lateral t

-- @ error-193
select 1;; select 2 3

-- @ error-194
select 1; selec 2

-- @ error-195
select a from t where a in (select 1

-- @ error-196
select 1e

-- @ error-198
select 1.2.3

-- @ error-199
select :a

-- @ error-200
select a:b

-- @ error-201
select a := 1

-- @ error-202
select {a}

-- @ error-203
select \a

-- @ error-204
create table c (a int references p on delete)

-- @ error-205
create table c (a int references p match)

-- @ error-206
create table c (a int, foreign key a references p)

-- @ error-207
alter table c validate x

-- @ error-208
merge t using s on true when matched then delete

-- @ error-209
merge into t using s when matched then delete

-- @ error-210
merge into t using s on true

-- @ error-211
merge into t using s on true when matched then insert values (1)

-- @ error-212
merge into t using s on true when not matched then delete

-- @ error-213
merge into t using s on true when matched delete

-- @ error-214
merge into t using s, u on true when matched then delete

-- @ error-215
merge into t using s on true when not matched then insert values (1), (2)

-- @ error-216
merge into t using s on true when not matched then insert select 1

-- @ error-217
set constraints a

-- @ error-218
set constraints deferred

-- @ error-219
with x as (truncate t) select 1
