/** The laws of descriptors by the way that `LAWS_BY` names: as the server, or by the adapters of serving/io. @module */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchHandler, io, nodeHandler } from 'serving/io'
import {
  type DescriptorSpec,
  describeDescriptor as describeByServer,
  type TestRunner,
} from 'serving/testing'
import { Pool } from 'undici'
import { lawsOfWay, type Way } from '../../src/testing/laws.ts'
import type { Wire } from '../../src/testing/pieces.ts'
import { sendSplit, splitsOf } from '../../src/testing/socket.ts'

/** Options of a handler whose function looks at its input, and what came of a request. */
class Asked<In> {
  readonly options: never
  readonly fn: never
  #failure: unknown = new Error('nothing came of the request')

  constructor(input: io.IODescriptor<In, never>, look: (value: In) => void) {
    const onError = (error: Error) => {
      this.#failure = error
    }
    this.options = { input, output: new io.Text(), onError } as never
    this.fn = ((value: In) => {
      this.#failure = undefined
      try {
        look(value)
      } catch (error) {
        this.#failure = error
      }
      return 'taken'
    }) as never
  }

  /** **Errors**: what the handler told of, or looking at the value threw. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

const byFetch: Way = {
  async deliver(descriptor, { headers, body }, look) {
    const asked = new Asked(descriptor, look)
    const init = { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> }
    await (
      await fetchHandler(asked.options, asked.fn)(new Request('http://a.example/', init))
    ).text()
    asked.check()
  },
  async deliverSplit(descriptor, wire, look) {
    const { headers, body } = wire
    for (const at of splitsOf(wire)) {
      const asked = new Asked(descriptor, look)
      const stream = ReadableStream.from(
        [body.slice(0, at), body.slice(at)].filter(({ length }) => length > 0),
      )
      const init = {
        method: 'POST',
        headers,
        body: stream,
        duplex: 'half',
      } as unknown as RequestInit
      await (
        await fetchHandler(asked.options, asked.fn)(new Request('http://a.example/', init))
      ).text()
      asked.check()
    }
  },
}

const listeners = new Map<string, RequestListener>()
// Connections stay open: an idle one that the server ends meets the next request of a slow machine.
const server = createServer({ keepAliveTimeout: 0 }, (req, res) =>
  listeners.get(req.url ?? '')?.(req, res),
).unref()
let address: Promise<{ port: number; pool: Pool }> | undefined

async function listen() {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, pool: new Pool(`http://127.0.0.1:${port}`) }
}

/** Lets the server take requests of a path while `ask` asks them. */
async function served<T>(
  listener: RequestListener,
  ask: (to: { port: number; pool: Pool }, path: string) => Promise<T>,
): Promise<T> {
  address ??= listen()
  const path = `/${crypto.randomUUID()}`
  listeners.set(path, listener)
  try {
    return await ask(await address, path)
  } finally {
    listeners.delete(path)
  }
}

/** Posts a request over a connection that is kept. With `fetch` or `request` of Node the laws need a fifth more CPU. */
async function post(pool: Pool, path: string, { headers, body }: Wire): Promise<void> {
  const answer = await pool.request({ method: 'POST', path, headers, body })
  await answer.body.dump()
}

const byNode: Way = {
  deliver(descriptor, wire, look) {
    const asked = new Asked(descriptor, look)
    return served(nodeHandler(asked.options, asked.fn), async ({ pool }, path) => {
      await post(pool, path, wire)
      asked.check()
    })
  },
  deliverSplit(descriptor, wire, look) {
    const asked = new Asked(descriptor, look)
    return served(nodeHandler(asked.options, asked.fn), ({ port }, path) =>
      sendSplit(port, path, wire, () => asked.check()),
    )
  },
}

function describeByAdapters<In, Out>(
  name: string,
  spec: DescriptorSpec<In, Out>,
  runner: TestRunner,
): void {
  for (const [adapter, way] of Object.entries({ fetchHandler: byFetch, nodeHandler: byNode })) {
    runner.describe(`${name} keeps the laws of descriptors by ${adapter}:`, () => {
      for (const law of lawsOfWay(spec, way)) runner.it(law.name, law.check)
    })
  }
}

export const describeDescriptor =
  process.env.LAWS_BY === 'adapters' ? describeByAdapters : describeByServer
