import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { gunzipSync, inflateSync } from 'node:zlib'
import { type Listener, serve } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silent } from '../rpc/harness.ts'
import { modelService } from './service.ts'

interface Recorded {
  readonly client: string
  readonly call: string
  /** The bytes of the request, in base64. */
  readonly http: string
  /** Elements of each output, by numpy. */
  readonly outputs: Readonly<Record<string, readonly (number | string)[]>>
}

// What real clients sent, and what their answers mean: made by test/oip/python/clients.py --record.
const fixture = readFileSync(new URL('../fixtures/oip/clients.json', import.meta.url), 'utf8')
const recorded = JSON.parse(fixture) as Recorded[]

let listener: Listener
beforeAll(async () => {
  listener = await serve(modelService(), { port: 0, host: '127.0.0.1', logger: silent })
})
afterAll(() => listener.close())

/** Sends bytes and returns the head and the body of the answer. */
function exchange(bytes: Buffer): Promise<{ head: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(bytes))
    let received = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece])
      const end = received.indexOf('\r\n\r\n')
      const head = received.subarray(0, Math.max(0, end)).toString()
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
      if (end === -1 || received.length < end + 4 + length) return
      socket.destroy()
      resolve({ head, body: received.subarray(end + 4) })
    })
  })
}

const header = (head: string, name: string) =>
  new RegExp(`^${name}: (.*?)\r?$`, 'im').exec(head)?.[1]

/** Returns the elements of an answer's outputs, read without our code. */
function outputsOf({
  head,
  body: sent,
}: {
  head: string
  body: Buffer
}): Record<string, (number | string)[]> {
  const encoding = header(head, 'content-encoding')
  const body =
    encoding === 'gzip' ? gunzipSync(sent) : encoding === 'deflate' ? inflateSync(sent) : sent
  let at = Number(header(head, 'inference-header-content-length') ?? body.length)
  const json = body.subarray(0, at).toString()
  const { outputs } = JSON.parse(json) as {
    outputs: {
      name: string
      datatype: string
      data?: (number | string)[]
      parameters?: { binary_data_size: number }
    }[]
  }
  const found: Record<string, (number | string)[]> = {}
  for (const { name, datatype, data, parameters } of outputs) {
    if (data !== undefined) {
      // JSON.parse would round 64-bit integers.
      const exact = new RegExp(`"name":"${name}".*?"data":\\[(.*?)\\]`).exec(json)?.[1]
      found[name] = datatype === 'INT64' ? (exact as string).split(',') : data
      continue
    }
    const end = at + (parameters?.binary_data_size ?? 0)
    const values: (number | string)[] = []
    while (at < end) {
      if (datatype === 'FP32') values.push(body.readFloatLE(at))
      else if (datatype === 'INT64') values.push(String(body.readBigInt64LE(at)))
      else values.push(body.subarray(at + 4, at + 4 + body.readUInt32LE(at)).toString())
      at += datatype === 'FP32' ? 4 : datatype === 'INT64' ? 8 : 4 + body.readUInt32LE(at)
    }
    found[name] = values
  }
  return found
}

describe('what real clients send', () => {
  it('is of every client over HTTP', () => {
    const clients = new Set(recorded.map(({ client }) => client))
    expect([...clients].sort()).toEqual([
      'kserve InferenceRESTClient',
      'tritonclient.http',
      'tritonclient.http.aio',
    ])
  })

  it.each(recorded)('$client: $call', async ({ http, outputs }) => {
    // The file has integers as Python writes them, exact.
    const exact = /"sum": \[(\d+)\]/.exec(fixture)?.[1] as string
    const answer = await exchange(Buffer.from(http, 'base64'))
    expect(answer.head).toMatch(/^HTTP\/1\.1 200/)
    const wanted = { ...outputs, ...('sum' in outputs && { sum: [exact] }) }
    expect(outputsOf(answer)).toEqual(wanted)
  })
})
