/**
 * A library that does a job's work in a loop, without a server: the difference to it is the cost of serving.
 * BENCH_LOOP names the library, BENCH_BODY the file with the request's body, BENCH_PATH the job.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import type pl from 'nodejs-polars'
import { usageOf } from './listening.ts'
import { meanOf } from './mean.ts'

const require = createRequire(import.meta.url)
const body = readFileSync(process.env.BENCH_BODY ?? '')
const path = process.env.BENCH_PATH

type Work = () => Uint8Array | string | Promise<Uint8Array | string>

function polarsWork(): Work {
  const polars = require('nodejs-polars') as typeof pl
  if (path === '/csv') return () => polars.readCSV(body).writeCSV()
  return () => polars.readParquet(body).writeParquet()
}

/** Returns the codec that Image uses here: libjpeg-turbo for JPEG where it is installed, else @napi-rs/image. */
async function codecWork(): Promise<Work> {
  const { jpegCodec } = await import('../../src/values/image/jpeg.ts')
  const { readImageHeader } = await import('../../src/values/image/header.ts')
  const { NDArray } = await import('../../src/values/array/ndarray.ts')
  const header = readImageHeader(body)
  if (jpegCodec !== undefined && header?.mimeType === 'image/jpeg') {
    return async () => String(new NDArray((await jpegCodec.decode(body, header)).data).mean())
  }
  return napiWork()
}

function napiWork(): Work {
  const { Transformer } = require('@napi-rs/image') as typeof import('@napi-rs/image')
  return async () => String(meanOf(await new Transformer(body).rawPixels()))
}

/** Returns the add-on's own calls. */
async function nativeWork(): Promise<Work> {
  const { numberCodec } = await import('../../src/values/array/array-text.ts')
  return () => {
    const array = numberCodec.parseNdarray(body, undefined)
    const text = 'failure' in array ? undefined : numberCodec.encodeNdarray(array, 'null')
    if (text === undefined) throw new Error('the body is no array')
    return text
  }
}

const works: Readonly<Record<string, () => Work | Promise<Work>>> = {
  polars: polarsWork,
  codec: codecWork,
  napi: napiWork,
  native: nativeWork,
}
const work = await works[process.env.BENCH_LOOP ?? '']()

async function inLoop(times: number): Promise<{ latencies: number[]; seconds: number }> {
  const latencies: number[] = []
  const start = performance.now()
  for (let i = 0; i < times; i++) {
    const begin = performance.now()
    await work()
    latencies.push(performance.now() - begin)
    // Turns the event loop, as a server does: Polars frees its frames only then, and the loop would hold gigabytes.
    await setImmediate()
  }
  return { latencies, seconds: (performance.now() - start) / 1000 }
}

process.on('message', async (message: 'usage' | 'once' | { readonly times: number }) => {
  if (message === 'usage') process.send?.({ usage: usageOf() })
  else if (message === 'once')
    process.send?.({ answer: Buffer.from(await work()).toString('base64') })
  else process.send?.(await inLoop(message.times))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ port: 0 })
