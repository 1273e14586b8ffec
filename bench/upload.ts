/**
 * Memory and speed of a large upload: the server's peak above idle.
 *
 * Run: `npm run build && npx tsx --tsconfig bench/tsconfig.json bench/upload.ts [MiB=1024] [max MiB above idle=150]`.
 * Each upload has a new process. Fails when one takes more than the bound.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { Usage } from './servers/listening.ts'

const size = Number(process.argv[2] ?? 1024) * 1024 * 1024
const bound = Number(process.argv[3] ?? 150)
const piece = Buffer.alloc(256 * 1024, 'some bytes of a large file\r\n--')
const boundary = 'X'.repeat(40)
const head = Buffer.from(
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n`,
)
const tail = Buffer.from(`\r\n--${boundary}--\r\n`)

function* content(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= piece.length)
    yield left < piece.length ? piece.subarray(0, left) : piece
}

function* formOf(bytes: number): Generator<Buffer> {
  yield head
  yield* content(bytes)
  yield tail
}

/** Sends a body and counts the bytes of the answer; returns its text when it is short. */
async function upload(
  port: number,
  path: string,
  bytes: number,
  chunked: boolean,
): Promise<{ length: number; text: string }> {
  const isForm = path !== '/echo' && path !== '/file'
  const headers: Record<string, string | number> = {
    'content-type': isForm
      ? `multipart/form-data; boundary=${boundary}`
      : 'application/octet-stream',
  }
  if (!chunked) headers['content-length'] = isForm ? bytes + head.length + tail.length : bytes
  const outgoing = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent: false })
  const answered = once(outgoing, 'response')
  await pipeline(
    Readable.from(isForm ? formOf(bytes) : content(bytes), { objectMode: false }),
    outgoing,
  )
  const [response] = await answered
  let length = 0
  let text = ''
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length < 1000) text += chunk
  }
  return { length, text }
}

function answer<T>(child: ChildProcess): Promise<T> {
  return once(child, 'message').then(([message]) => message as T)
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
let worst = 0
for (const engine of ['uws', 'node']) {
  for (const [title, path, chunked] of [
    ['raw body', '/file', false],
    ['raw body, chunked', '/file', true],
    ['form', '/form', false],
    ['echo', '/echo', false],
  ] as const) {
    const child = fork(here('servers/upload.ts'), {
      execArgv: ['--import', 'tsx'],
      env: {
        ...process.env,
        UPLOAD_ENGINE: engine,
        NODE_ENV: 'production',
        TSX_TSCONFIG_PATH: here('tsconfig.json'),
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { port } = await answer<{ port: number }>(child)
    const peak = async () => {
      child.send('usage')
      return (await answer<{ usage: Usage }>(child)).usage.peakBytes / 2 ** 20
    }
    await upload(port, path, 1000, chunked)
    const idle = await peak()
    const start = performance.now()
    const { length, text } = await upload(port, path, size, chunked)
    const seconds = (performance.now() - start) / 1000
    if (path === '/echo' ? length !== size : text !== String(size))
      throw new Error(`${engine} ${title}: ${text}`)
    const growth = (await peak()) - idle
    worst = Math.max(worst, growth)
    child.disconnect()
    const speed = (size / 2 ** 20 / seconds).toFixed(0)
    const memory = `idle ${idle.toFixed(0)} MiB, +${growth.toFixed(0)} MiB at the peak`
    console.log(`${engine.padEnd(5)} ${title.padEnd(18)} ${memory}, ${speed} MiB/s`)
  }
}
if (worst > bound)
  throw new Error(`expected at most ${bound} MiB above idle, measured ${worst.toFixed(0)} MiB`)
