import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { io, type Listener, Service } from 'serving'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { bufferPool } from '../../src/core/memory/buffer-pool.ts'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { writePacked } from '../../src/messages/packed.ts'
import { ProtoWriter, wireType } from '../../src/messages/protobuf.ts'
import { start } from '../rpc/harness.ts'

const count = 150_000
const floats = (value: number) => new Float32Array(count).fill(value)

/** A ModelInferRequest as gRPC frames it. */
function requestFrame(data: Float32Array): Buffer {
  const writer = new ProtoWriter(data.byteLength + 256)
  writer.text(1, 'echo')
  writer.message(5, () => {
    writer.text(1, 'input')
    writer.text(2, 'FP32')
    writePacked(writer, 3, 'int64', BigInt64Array.of(BigInt(data.length)))
  })
  writer.tag(7, wireType.bytes).bytes(new Uint8Array(data.buffer))
  return frameOf({ bytes: writer.finish() })
}

describe('a large answer over gRPC', () => {
  let listener: Listener
  let session: ClientHttp2Session
  let ended = 0
  beforeAll(async () => {
    const array = new io.NumpyNdarray({ dtype: 'float32' })
    const svc = new Service('pool')
    svc.api({ name: 'echo', input: array, output: array }, (x) => x)
    svc.onResponse(() => {
      ended++
    })
    listener = await start(svc)
  })
  afterEach(() => {
    session.destroy()
    vi.restoreAllMocks()
  })
  afterAll(() => listener.close())

  function open(initialWindowSize: number): void {
    session = connect(`http://127.0.0.1:${listener.grpcPort}`, { settings: { initialWindowSize } })
  }

  function send(data: Float32Array): ClientHttp2Stream {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/inference.GRPCInferenceService/ModelInfer',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.end(requestFrame(data))
    return stream
  }

  async function answered(value: number): Promise<number> {
    const pieces: Buffer[] = []
    for await (const piece of send(floats(value))) pieces.push(piece)
    vi.mocked(Buffer.allocUnsafe).mockRestore?.()
    const answer = Buffer.concat(pieces)
    expect([answer[0], answer.readUInt32BE(1)]).toEqual([0, answer.length - 5])
    expect(answer.subarray(-4 * count).equals(new Uint8Array(floats(value).buffer))).toBe(true)
    return answer.length
  }

  it('is sent from a buffer of the pool without another copy, and given back when it was written', async () => {
    const give = vi.spyOn(bufferPool, 'give')
    const { calls } = vi.spyOn(Buffer, 'allocUnsafe').mock
    open(2 ** 20)
    const length = await answered(1)
    expect(calls.filter(([size]) => size === length)).toEqual([])
    await vi.waitFor(() => expect(give).toHaveBeenCalledOnce())
    expect(give.mock.calls[0][0].byteLength).toBeGreaterThan(4 * count)
  })

  it('keeps its buffer where the client resets it: frames of it may still be on their way', async () => {
    const give = vi.spyOn(bufferPool, 'give')
    open(100_000)
    const before = ended
    const stream = send(floats(2))
    await once(stream, 'data')
    stream.close(8)
    await vi.waitFor(() => expect(ended).toBe(before + 1))
    expect(give).not.toHaveBeenCalled()
  })

  it('has numbers of its own call alone, beside calls that are reset', async () => {
    open(2 ** 20)
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let turn = 0; turn < 12; turn++) {
          if ((client + turn) % 3 > 0) await answered(100 * client + turn)
          else {
            const stream = send(floats(-1))
            await once(stream, 'data')
            stream.close(8)
          }
        }
      }),
    )
  })
})
