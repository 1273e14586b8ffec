/**
 * JSON in process: io.JSON reads and writes a body, against JSON.parse, JSON.stringify and UTF-8, by CPU time of the
 * process. Records, nested objects and long texts from 1 KB to 4 MB, with and without a schema of zod. Checks the
 * answers first.
 * Run: `npx tsx --tsconfig bench/tsconfig.json bench/micro/json.ts [KB...]`
 * @module
 */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { HeaderList, HttpRequest, type HttpResponse, io } from '../../src/index.ts'
import { besideBaseline } from './baseline.ts'
import { compare, cpuTime } from './turns.ts'

const headers = HeaderList.from({ 'content-type': 'application/json' })

const record = z.object({
  id: z.number(),
  name: z.string(),
  price: z.number(),
  score: z.number(),
  active: z.boolean(),
  tags: z.array(z.string()),
})
const makeRecord = (i: number) => ({
  id: i,
  name: `item ${i}`,
  price: (i % 997) / 100,
  score: Math.sin(i),
  active: i % 2 === 0,
  tags: ['new', `t${i % 7}`],
})

interface Tree {
  readonly name: string
  readonly left?: Tree
  readonly right?: Tree
}
const tree: z.ZodType<Tree> = z.lazy(() =>
  z.object({ name: z.string(), left: tree.optional(), right: tree.optional() }),
)
const makeTree = (depth: number): Tree =>
  depth === 0
    ? { name: 'leaf' }
    : { name: `level ${depth}`, left: makeTree(depth - 1), right: makeTree(depth - 1) }

const text = (i: number, sentence: string) => `${i}: ${sentence.repeat(40)}`
const makers: Readonly<Record<string, { readonly schema: z.ZodType; make(i: number): unknown }>> = {
  records: { schema: z.array(record), make: makeRecord },
  nested: { schema: z.array(tree), make: () => makeTree(3) },
  texts: { schema: z.array(z.string()), make: (i) => text(i, 'A "quoted" line of plain text.\n') },
  'texts beyond ASCII': {
    schema: z.array(z.string()),
    make: (i) => text(i, 'Größe und Maß – 大きい。'),
  },
}

function bodyOf(make: (i: number) => unknown, bytes: number): Buffer {
  const one = Buffer.byteLength(JSON.stringify(make(1)))
  return Buffer.from(
    JSON.stringify(Array.from({ length: Math.max(1, Math.round(bytes / one)) }, (_, i) => make(i))),
  )
}

const limits = { maxBytes: 2 ** 24, maxValues: 2 ** 24 }
const sizes = process.argv.slice(2).filter((word) => /^\d+$/.test(word))
for (const kilobytes of sizes.length > 0 ? sizes.map(Number) : [1, 10, 100, 1000, 4000]) {
  console.log(`\n${kilobytes} KB: ours, and times the bare parse and stringify; read, write alone`)
  for (const [name, { schema, make }] of Object.entries(makers)) {
    const body = bodyOf(make, kilobytes * 1000)
    for (const checked of [undefined, schema]) {
      const json = new io.JSON({ ...limits, ...(checked && { schema: checked }) })
      const check =
        checked === undefined ? (value: unknown) => value : (value: unknown) => checked.parse(value)
      const read = () => json.fromHttpRequest(new HttpRequest(headers, body))
      const write = (value: unknown) =>
        Buffer.from((json.toHttpResponse(value as never) as HttpResponse).body as string)
      const bareRead = () => check(JSON.parse(body.toString()))
      const bareWrite = (value: unknown) => Buffer.from(JSON.stringify(check(value)))
      const value = read()
      assert.deepEqual(value, bareRead())
      assert.ok(write(value).equals(bareWrite(value)))
      const turns = [() => write(read()), () => bareWrite(bareRead()), read, bareRead]
      const [ours, bare, ourRead, theirRead] = compare(
        turns,
        Math.ceil(2e6 / body.length),
        15,
        cpuTime,
      )
      const ratio = besideBaseline(`${kilobytes} KB ${name}${checked ? ', zod' : ''}`, ours / bare)
      const parts = `${(ourRead / theirRead).toFixed(2)}, ${((ours - ourRead) / (bare - theirRead)).toFixed(2)}`
      const title = `${name}${checked ? ', zod' : ''}`
      console.log(
        `  ${title.padEnd(26)} ${(ours / 1000).toFixed(1).padStart(9)} µs  ${ratio}  ${parts}`,
      )
    }
  }
}
