import { connect } from 'node:net'
import { io, type Listener, NDArray, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { start } from '../rpc/harness.ts'

// Each answer is larger than what the kernel takes of a connection that nobody reads.
const count = 3_000_000

/** A body of one float32 in binary form, with the value of every element of the answer. */
function request(value: number, extra = ''): Buffer {
  const input = { name: 'input', shape: [1], datatype: 'FP32', parameters: { binary_data_size: 4 } }
  const json = Buffer.from(
    JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } }),
  )
  const tensor = Buffer.alloc(4)
  tensor.writeFloatLE(value)
  const lines = [
    'POST /v2/models/fill/infer HTTP/1.1',
    'host: x',
    `content-length: ${json.length + 4}`,
    `inference-header-content-length: ${json.length}`,
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n${extra}\r\n`), json, tensor])
}

interface Answer {
  readonly head: string
  readonly json: {
    readonly outputs: readonly { readonly parameters: { readonly binary_data_size: number } }[]
  }
  readonly tensor: Buffer
}

/** Reads answers with a content-length from the bytes of a connection. */
function parse(bytes: Buffer): Answer[] {
  const answers: Answer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at) + 4
    const head = bytes.subarray(at, end).toString('latin1').toLowerCase()
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1])
    const size = Number(/\r\ninference-header-content-length: (\d+)/.exec(head)?.[1])
    const json = JSON.parse(bytes.subarray(end, end + size).toString())
    answers.push({ head, json, tensor: bytes.subarray(end + size, end + length) })
    at = end + length
  }
  return answers
}

/** Whether the bytes of a connection are this many whole answers. */
function areWhole(bytes: Buffer, answers: number): boolean {
  const parsed = parse(bytes)
  return parsed.length === answers && parsed.at(-1)?.tensor.length === 4 * count
}

/** Sends bytes, reads nothing for a while, then until the answers are whole or the connection ends. */
async function exchange(port: number, sent: Buffer, answers: number): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.write(sent)
  await new Promise((resolve) => setTimeout(resolve, 150))
  const pieces: Buffer[] = []
  let received = 0
  for await (const piece of socket) {
    pieces.push(piece)
    received += piece.length
    if (received > 4 * count * answers && areWhole(Buffer.concat(pieces), answers)) break
  }
  socket.destroy()
  return Buffer.concat(pieces)
}

describe.each(engines)('a large tensor in binary form (%s)', (engine) => {
  let listener: Listener
  beforeAll(async () => {
    const array = new io.NumpyNdarray({ dtype: 'float32' })
    const svc = new Service('lent')
    // Every call writes over the elements of the one before.
    const buffer = new Float32Array(count)
    svc.api({ name: 'fill', input: array, output: array }, (x) => {
      return new NDArray(buffer.fill(Number(x.data[0])), [count], 'float32')
    })
    listener = await start(svc, { engine })
  })
  afterAll(() => listener.close())

  const all = (value: number) => Buffer.from(new Float32Array(count).fill(value).buffer)

  function check(answer: Answer, value: number): void {
    expect(answer.head).toContain('content-type: application/octet-stream')
    expect(answer.json).toMatchObject({ model_name: 'fill' })
    expect(answer.json.outputs[0].parameters).toEqual({ binary_data_size: 4 * count })
    expect(answer.tensor.equals(all(value))).toBe(true)
  }

  it('has the elements that it had when the function returned, however late it is read', async () => {
    const values = [1, 2, 3, 4, 5]
    const answers = await Promise.all(
      values.map((value) => exchange(listener.port, request(value), 1)),
    )
    for (const [i, bytes] of answers.entries()) check(parse(bytes)[0], values[i])
  })

  it('comes whole behind others on a connection whose requests were sent at once', async () => {
    const sent = Buffer.concat([1, 2, 3].map((value) => request(value)))
    const parsed = parse(await exchange(listener.port, sent, 3))
    // uWebSockets.js may close a connection that pipelines; what it answers is right.
    expect(parsed.length).toBeGreaterThan(0)
    for (const [i, answer] of parsed.entries())
      if (answer.tensor.length === 4 * count) check(answer, i + 1)
  })

  it('is compressed, and keeps its connection or closes it, as other answers do', async () => {
    const init = (headers: Record<string, string>) => {
      const whole = request(7)
      const body = whole.subarray(whole.indexOf('\r\n\r\n') + 4)
      return {
        method: 'POST',
        headers: { 'inference-header-content-length': String(body.length - 4), ...headers },
        body,
      }
    }
    const url = `http://127.0.0.1:${listener.port}/v2/models/fill/infer`
    const packed = await fetch(url, init({ 'accept-encoding': 'gzip' }))
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(
      Buffer.from(await packed.arrayBuffer())
        .subarray(-4 * count)
        .equals(all(7)),
    ).toBe(true)
    const closed = parse(
      await exchange(listener.port, request(8, 'connection: close\r\n'), Number.POSITIVE_INFINITY),
    )
    check(closed[0], 8)
  })
})
