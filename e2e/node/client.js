// node-postgres: pool, parameters, prepared statements, cursors and streams of
// rows, COPY, LISTEN, cancel, errors. Prints one line a check.
'use strict'

const assert = require('node:assert')
const { pipeline } = require('node:stream/promises')
const { Readable } = require('node:stream')
const pg = require('pg')
const Cursor = require('pg-cursor')
const QueryStream = require('pg-query-stream')
const { from: copyFrom, to: copyTo } = require('pg-copy-streams')

let failed = 0
function same(what, got, want) {
  try {
    assert.deepStrictEqual(got, want)
    console.log(`ok   node-postgres: ${what}`)
  } catch {
    failed++
    console.log(`FAIL node-postgres: ${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
  }
}

async function section(what, fn, ...args) {
  try {
    await fn(...args)
  } catch (e) {
    failed++
    console.log(`FAIL node-postgres: ${what}: ${e.stack}`)
  }
}

async function types(c) {
  const at = new Date('2024-02-29T01:02:03.456Z')
  const r = await c.query(
    'SELECT $1::int4 AS i, $2::int8 AS l, $3::float8 AS f, $4::numeric AS n, $5::text AS t, $6::bool AS b, $7::timestamptz AS at, $8::jsonb AS j, $9::text[] AS a, $10::bytea AS y, NULL::int AS z',
    [1, '9007199254740993', 1.5, '12.340', "năm ' \\", true, at, { a: [1, null] }, ['x', 'y,"z'], Buffer.from([0, 255])])
  same('types', r.rows[0], {
    i: 1, l: '9007199254740993', f: 1.5, n: '12.340', t: "năm ' \\", b: true, at, j: { a: [1, null] }, a: ['x', 'y,"z'], y: Buffer.from([0, 255]), z: null,
  })
  same('fields', r.fields.slice(0, 3).map((f) => [f.name, f.dataTypeID, f.dataTypeSize]), [['i', 23, 4], ['l', 20, 8], ['f', 701, 8]])
  const b = await c.query({ text: 'SELECT $1::int4 AS i, $2::timestamptz AS at', values: [7, at], binary: true })
  same('binary results', b.rows[0].i, 7)
  const two = await c.query('SELECT 1 AS a; SELECT 2 AS b')
  same('two statements', two.map((x) => x.rows), [[{ a: 1 }], [{ b: 2 }]])
}

async function transactions(c) {
  await c.query('CREATE TABLE np (id int PRIMARY KEY, name text)')
  await c.query('BEGIN')
  for (let i = 0; i < 100; i++) {
    await c.query({ name: 'insert', text: 'INSERT INTO np VALUES ($1, $2)', values: [i, `n${i}`] })
  }
  await c.query('SAVEPOINT s')
  await c.query('INSERT INTO np VALUES (1, $1)', ['again']).then(() => same('unique key', 'none', '23505'), (e) => same('unique key', e.code, '23505'))
  await c.query('ROLLBACK TO SAVEPOINT s')
  await c.query('COMMIT')
  same('rows', (await c.query('SELECT count(*)::int AS n, max(name) AS m FROM np')).rows, [{ n: 100, m: 'n99' }])
  const r = await c.query('UPDATE np SET name = $1 WHERE id < $2 RETURNING id', ['x', 3])
  same('RETURNING', [r.command, r.rowCount, r.rows.length], ['UPDATE', 3, 3])
}

async function reading(c) {
  const cursor = c.query(new Cursor('SELECT id FROM np ORDER BY id'))
  let rows = await cursor.read(30)
  same('cursor', [rows.length, rows[29].id], [30, 29])
  rows = await cursor.read(100)
  same('cursor to its end', [rows.length, (await cursor.read(10)).length], [70, 0])
  await cursor.close()
  let sum = 0
  for await (const row of c.query(new QueryStream('SELECT id FROM np WHERE id >= $1', [50], { batchSize: 7 }))) {
    sum += row.id
  }
  same('stream of rows', sum, 3725)
}

async function streams(c) {
  await c.query("CREATE STREAM nps (id bigint, k text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 2, partition_key = 'k', dedup_key = 'k,id')")
  await c.query('CREATE CONTINUOUS VIEW npv AS SELECT k, count(*) AS n FROM nps GROUP BY k')
  const lines = []
  for (let i = 0; i < 1000; i++) lines.push(`${i}\tk${i % 4}\t2024-01-01 00:00:00Z\n`)
  await pipeline(Readable.from(lines), c.query(copyFrom('COPY nps FROM STDIN')))
  same('view', (await c.query('SELECT k, n::int, _status FROM npv ORDER BY k LIMIT 2')).rows, [{ k: 'k0', n: 250, _status: 'complete' }, { k: 'k1', n: 250, _status: 'complete' }])
  let out = ''
  await pipeline(c.query(copyTo('COPY (SELECT k, n FROM npv ORDER BY k) TO STDOUT CSV')), async (chunks) => {
    for await (const b of chunks) out += b.toString()
  })
  same('COPY TO', out, 'k0,250\nk1,250\nk2,250\nk3,250\n')
}

async function errors(c) {
  await c.query('SELECT 1,\n nosuch').then(() => same('error', 'none', '42703'),
    (e) => same('error', [e.code, e.severity, e.position], ['42703', 'ERROR', '12']))
  same('the connection goes on', (await c.query('SELECT 1 AS one')).rows, [{ one: 1 }])
}

async function notifications(pool) {
  const a = await pool.connect()
  const b = await pool.connect()
  await a.query('LISTEN news')
  const told = new Promise((resolve) => a.once('notification', resolve))
  await b.query("NOTIFY news, 'hello'")
  const n = await told
  same('LISTEN/NOTIFY', [n.channel, n.payload], ['news', 'hello'])
  a.release()
  b.release()
}

async function main() {
  const pool = new pg.Pool({ connectionString: process.argv[2], max: 4 })
  const c = await pool.connect()
  for (const [what, part] of Object.entries({ types, transactions, reading, streams, errors })) {
    await section(what, part, c)
  }
  c.release()
  await section('notifications', notifications, pool)
  const many = await Promise.all(Array.from({ length: 40 }, (_, i) => pool.query('SELECT $1::int AS i', [i])))
  same('a pool of four', many.map((r) => r.rows[0].i), Array.from({ length: 40 }, (_, i) => i))
  const impatient = new pg.Client({ connectionString: process.argv[2], statement_timeout: 50 })
  await impatient.connect()
  await impatient.query('SELECT pg_sleep(30)').then(() => same('statement_timeout', 'none', '57014'), (e) => same('statement_timeout', e.code, '57014'))
  await impatient.end()
  await pool.end()
  process.exit(failed ? 1 : 0)
}

main()
