import { readFileSync } from 'node:fs'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'

const folder = new URL('../../fixtures/strangers/', import.meta.url)
const bytesOf = (name: string) => readFileSync(new URL(name, folder))
/** What pyarrow reads in each file, by column; see make.py beside it. */
const values: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = JSON.parse(
  bytesOf('values.json').toString(),
)
const types = {
  parquet: 'application/vnd.apache.parquet',
  stream: 'application/vnd.apache.arrow.stream',
  file: 'application/vnd.apache.arrow.file',
}
const typeOf = (name: string) => types[name.endsWith('.parquet') ? 'parquet' : 'stream']

const svc = new Service('Strangers')
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }, echo)
svc.api({ input: new io.PandasDataFrame(), output: new io.JSON() }, function touched(frame) {
  // Makes nodejs-polars' own frame of the columns.
  return frame.slice(0, 1).height
})

svc.api(
  { input: new io.Multipart({ frame: new io.PandasDataFrame() }), output: new io.JSON() },
  function part() {
    return true
  },
)

function echo<T>(value: T): T {
  return value
}

const ask = (body: Uint8Array, type: string, accept = 'application/json', path = '/echo') =>
  svc.inject({ path, headers: { 'content-type': type, accept }, body: Buffer.from(body) })

/** Returns records as values by column. */
function columnsOf(records: unknown): Readonly<Record<string, readonly unknown[]>> {
  const rows = records as readonly Readonly<Record<string, unknown>>[]
  return Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((name) => [name, rows.map((row) => row[name])]),
  )
}

/** Returns what is expected, by column: records of no rows name none. */
const expectedOf = (name: string) => (values[name].c?.length === 0 ? {} : values[name])

async function messageOf(body: Uint8Array, type: string): Promise<string> {
  const answer = await ask(body, type)
  expect(answer.status).toBe(400)
  return JSON.stringify(answer.json())
}

describe('a file that another program wrote', () => {
  it.each(Object.keys(values))('is read as pyarrow reads it: %s', async (name) => {
    const answer = await ask(bytesOf(name), typeOf(name))
    expect([answer.status, columnsOf(answer.json())]).toEqual([200, expectedOf(name)])
  })

  it.each(Object.keys(values))(
    'is a frame of Polars where a function wants one: %s',
    async (name) => {
      const answer = await ask(bytesOf(name), typeOf(name), '*/*', '/touched')
      expect([answer.status, answer.json()]).toEqual([
        200,
        Math.min(1, values[name].c?.length ?? 1),
      ])
    },
  )

  it.each(Object.keys(values))(
    'comes back as Parquet and as Arrow with the same values: %s',
    async (name) => {
      for (const type of Object.values(types)) {
        const answer = await ask(bytesOf(name), typeOf(name), type)
        expect(answer.status).toBe(200)
        const again = await ask(answer.body as Uint8Array, type)
        expect([type, columnsOf(again.json())]).toEqual([type, expectedOf(name)])
      }
    },
  )
})

describe('a map whose entries have names of their own', () => {
  // Arrow and Parquet leave the names to the writer; pyarrow calls them key and value, too.
  it.each(['map.stream', 'map.parquet'])('has keys and values: %s', async (name) => {
    const renamed = bytesOf(name)
      .toString('latin1')
      .replaceAll('value', 'other')
      .replaceAll('key', 'own')
    const answer = await ask(Buffer.from(renamed, 'latin1'), typeOf(name))
    expect([answer.status, columnsOf(answer.json())]).toEqual([200, values[name]])
  })
})

describe('a file that is not read', () => {
  it.each([
    ['int96-far.parquet', 'column \\"c\\" that has a time of 96 bits before 1677 or after 2262'],
    ['interval.stream', 'column \\"c\\" of a type that is not supported, interval of Arrow'],
    ['union.stream', 'column \\"c\\" of a type that is not supported, union of Arrow'],
    ['runs.stream', 'column \\"c\\" of a type that is not supported, runEndEncoded of Arrow'],
    ['list-view.stream', 'column \\"c\\" of a type that is not supported, listView of Arrow'],
    ['decimal256.stream', 'column \\"c\\" of a type that is not supported, decimal of Arrow'],
    ['twice.stream', 'two columns \\"c\\"'],
    ['fields.stream', 'column \\"c\\" of two fields \\"f\\"'],
    ['far.stream', 'column \\"c\\" that has a time out of range in row 0'],
    ['zone.stream', 'column \\"c\\" in a time zone that is not known, \\"Mars/Olympus\\"'],
  ])('is refused by column and reason: %s', async (name, told) => {
    expect(await messageOf(bytesOf(name), typeOf(name))).toContain(told)
  })

  it.each([
    ['time32s.parquet', 2],
    ['../frames/small.parquet', 3],
  ])('has row groups of other rows than its footer says: %s', async (name, rows) => {
    const file = Buffer.from(bytesOf(name))
    const at = file.length - 8 - file.readUInt32LE(file.length - 8)
    // The number of rows in Thrift's form, after the schema.
    const place = file.indexOf(Buffer.from([0x16, rows * 2, 0x19]), at) + 1
    file[place] = 0
    expect(await messageOf(file, types.parquet)).toContain(
      `row groups have ${rows} rows where its footer says 0`,
    )
  })

  it('is refused alike in a body, in a part of a form and in a message of gRPC', async () => {
    const told = 'column \\"c\\" that has a time of 96 bits before 1677 or after 2262'
    const file = bytesOf('int96-far.parquet')
    const form = new FormData()
    form.set('frame', new Blob([Uint8Array.from(file)], { type: types.parquet }), 'far.parquet')
    const request = new Request('http://a.example/', { method: 'POST', body: form })
    const type = request.headers.get('content-type') ?? ''
    const part = await ask(Buffer.from(await request.arrayBuffer()), type, '*/*', '/part')
    expect([part.status, JSON.stringify(part.json())]).toEqual([400, expect.stringContaining(told)])
    expect(await messageOf(file, types.parquet)).toContain(told)
    await expect(new io.PandasDataFrame().fromProto(file)).rejects.toThrow(
      told.replaceAll('\\', ''),
    )
  })
})
