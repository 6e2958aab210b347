"""The binary form of every type, as a result and as a parameter, byte for byte as
PostgreSQL's; and what RowDescription says of it. Two servers are compared."""

import sys

from psycopg import pq

from check import Checks

VALUES = {
    'bool': ['t', 'f'],
    'int2': ['0', '-32768', '32767'],
    'int4': ['-2147483648', '7'],
    'int8': ['9223372036854775807', '-1'],
    'float4': ['1.5', 'NaN', '-Infinity', '1e-40'],
    'float8': ['0.1', 'Infinity', '-0'],
    'numeric': ['0', '1.50', '-12345.678', 'NaN', 'Infinity', '-Infinity', '1e40', '0.0000001', '10000', '123456789012345678901234567890.12345'],
    'numeric(10,2)': ['3.145'],
    'text': ['', 'năm', 'a\nb'],
    'varchar': ['x'],
    'varchar(3)': ['abc'],
    'bpchar': ['x  '],
    'char(5)': ['ab'],
    '"char"': ['a'],
    'name': ['n'],
    'bytea': ['\\x00ff', ''],
    'date': ['2024-02-29', '0001-01-01', 'infinity', '-infinity', '4713-01-01 BC'],
    'time': ['00:00:00', '23:59:59.999999', '24:00:00'],
    'timestamp': ['2024-02-29 01:02:03.456789', 'infinity'],
    'timestamptz': ['2024-02-29 01:02:03+07', '-infinity'],
    'interval': ['1 year 2 mons 3 days 04:05:06.789', '-1 day', '00:00:00'],
    'uuid': ['7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11'],
    'json': ['{"a": 1}'],
    'jsonb': ['{"a": [1, null, "x"]}', '3'],
    'oid': ['26', '4294967295'],
    'regclass': ['pg_class'],
    'regtype': ['integer'],
    'regnamespace': ['pg_catalog'],
    'xid': ['5'],
    'int2vector': ['1 2 3'],
    'oidvector': ['1 2'],
    'int4[]': ['{}', '{1,NULL,3}', '{{1,2},{3,4}}', '[0:1]={5,6}'],
    'text[]': ['{a,"b c",NULL,""}'],
    'numeric[]': ['{1.5,NaN}'],
    'bool[]': ['{t,f}'],
    'timestamptz[]': ['{"2024-01-01 00:00:00+00"}'],
    'uuid[]': ['{7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11}'],
    'jsonb[]': ['{"{\\"a\\": 1}"}'],
    'date[]': ['{2024-01-01}'],
    'interval[]': ['{"1 day"}'],
    'bytea[]': ['{"\\\\x00"}'],
    'int8[]': ['{1}'],
    'float8[]': ['{1.5}'],
    'varchar[]': ['{x}'],
    'oid[]': ['{1}'],
    'name[]': ['{x}'],
    '"char"[]': ['{a}'],
}

check = Checks("binary forms")


def connect(dsn):
    conn = pq.PGconn.connect(dsn.encode())
    if conn.status != pq.ConnStatus.OK:
        sys.exit(conn.error_message.decode())
    return conn


def answer(conn, sql, result_format, value=None, oid=0):
    """Type, modifier, size and bytes of the one value of a result."""
    args = ([value], [oid], [1]) if value is not None else ([], [], [])
    r = conn.exec_params(sql.encode(), *args, result_format)
    if r.status != pq.ExecStatus.TUPLES_OK:
        return r.error_message.decode()
    return r.ftype(0), r.fmod(0), r.fsize(0), r.get_value(0, 0)


ours, theirs = connect(sys.argv[1]), connect(sys.argv[2])
for name, values in VALUES.items():
    failed = []
    for value in values:
        sql = "SELECT '%s'::%s" % (value.replace("'", "''"), name)
        got, want = answer(ours, sql, 1), answer(theirs, sql, 1)
        if got != want:
            failed.append((value, got, want))
            continue
        sql = f"SELECT $1::{name}"
        got, want = (answer(c, sql, 0, want[3], want[0]) for c in (ours, theirs))
        if got != want:
            failed.append((value, got, want))
    check.same(name, failed, [])
check.end()
