/**
 * The form parser against @fastify/busboy on the same bodies, in pieces of 64 KiB as sockets give them.
 *
 * Run: `npx tsx bench/micro/multipart.ts`. Contenders alternate; each figure is
 * the median of the rounds. Both must report the same parts and bytes first.
 * @module
 */
import { FormParser } from '../../src/http/form/form-parser.ts'
import { besideBaseline } from './baseline.ts'

interface Tally {
  parts: number
  bytes: number
}

type Contender = (pieces: readonly Buffer[]) => Promise<Tally>

const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW2'
const part = (head: string, body: Buffer) =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    body,
    Buffer.from('\r\n'),
  ])
const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
const file = 'name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream'

function content(bytes: number, fill: (at: number) => number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  for (let i = 0; i < bytes; i++) buffer[i] = fill(i)
  return buffer
}

const size = 10 * 1024 * 1024
let seed = 1
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed >>> 24
}
const lines = Buffer.from('some text of a line, and then its end\r\n')
const bodies: Readonly<Record<string, Buffer>> = {
  '10 MiB file of noise': form(part(file, content(size, random))),
  '10 MiB file of CRLF lines': form(
    part(
      file,
      content(size, (i) => lines[i % lines.length]),
    ),
  ),
  'three small parts': form(
    part('name="a"', Buffer.from('[1,2,3]')),
    part('name="b"', Buffer.from('{"x":1}')),
    part(file, Buffer.from('hello')),
  ),
}

async function ours(pieces: readonly Buffer[]): Promise<Tally> {
  const tally = { parts: 0, bytes: 0 }
  const parser = new FormParser(boundary, {
    partStart: () => void tally.parts++,
    partData(bytes) {
      tally.bytes += bytes.length
    },
    partEnd() {},
  })
  for (const piece of pieces) parser.write(piece)
  parser.end()
  return tally
}

type Listen = { on(event: string, listener: (...values: never[]) => void): unknown }
type Busboy = new (options: object) => Listen & { write(piece: Buffer): boolean; end(): void }

function busboy(Busboy: Busboy): Contender {
  return (pieces) =>
    new Promise((resolve, reject) => {
      const tally = { parts: 0, bytes: 0 }
      const parser = new Busboy({
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      })
      parser.on('file', (_name: string, stream: Listen) => {
        tally.parts++
        stream.on('data', (bytes: Buffer) => {
          tally.bytes += bytes.length
        })
      })
      parser.on('field', (_name: string, value: string) => {
        tally.parts++
        tally.bytes += Buffer.byteLength(value)
      })
      parser.on('finish', () => resolve(tally))
      parser.on('error', (error: Error) => reject(error))
      for (const piece of pieces) parser.write(piece)
      parser.end()
    })
}

async function time(
  contender: Contender,
  pieces: readonly Buffer[],
  runs: number,
): Promise<number> {
  const start = performance.now()
  for (let i = 0; i < runs; i++) await contender(pieces)
  return (performance.now() - start) / runs
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]
const library = '@fastify/busboy'
const loaded = await import(library).then(
  (module: { Busboy: Busboy }) => module.Busboy,
  () => undefined,
)
const contenders: Record<string, Contender> =
  loaded === undefined ? { ours } : { ours, busboy: busboy(loaded) }

for (const [title, body] of Object.entries(bodies)) {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += 65536) pieces.push(body.subarray(at, at + 65536))
  const runs = body.length > 1e6 ? 5 : 3000
  const times: Record<string, number[]> = {}
  const first = await ours(pieces)
  for (let round = 0; round < 9; round++) {
    for (const [name, contender] of Object.entries(contenders)) {
      const tally = await contender(pieces)
      if (tally.parts !== first.parts || tally.bytes !== first.bytes)
        throw new Error(`${name} read ${title} otherwise`)
      times[name] ??= []
      times[name].push(await time(contender, pieces, runs))
    }
  }
  for (const [name, values] of Object.entries(times)) {
    const ms = median(values)
    const speed = `${(body.length / 1e6 / (ms / 1e3)).toFixed(0)} MB/s`
    const ratio = besideBaseline(`${title}, ${name}`, ms / median(times.ours))
    const figures = `${(ms * 1000).toFixed(1).padStart(10)} µs ${speed.padStart(12)}`
    console.log(`${title.padEnd(28)} ${name.padEnd(8)} ${figures}  ${ratio}`)
  }
}
