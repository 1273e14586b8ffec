/** The servers of a remote model: whose turn it is, which are down, and which calls are tried again. @module */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Overloaded } from '../core/errors.ts'
import type { ModelCall } from '../runner/model-host.ts'
import type { RemoteLife } from '../runner/remote-options.ts'
import { Unsent } from './remote-transport.ts'

// Interval of name look-ups and readiness checks. **Units**: milliseconds.
const checkMs = 2_000
const maxFailures = 3
const openMs = 1_000
const maxTries = 3

interface Backend {
  readonly address: string
  failures: number
  /** **Units**: milliseconds of `performance.now`. */
  closedUntil: number
}

/** Gives calls to servers in turn. */
export class Backends {
  readonly #urls: readonly URL[]
  readonly #isReady: (address: string) => Promise<boolean>
  readonly #model: string
  readonly #life: RemoteLife
  #backends: Backend[] = []
  #turn = 0
  #problem: string | undefined

  constructor(
    urls: readonly string[],
    isReady: (address: string) => Promise<boolean>,
    model: string,
    life: RemoteLife,
  ) {
    this.#urls = urls.map((url) => new URL(url.replace(/^grpc/, 'http')))
    this.#isReady = isReady
    this.#model = model
    this.#life = life
    const timer = setInterval(() => void this.check(), checkMs)
    timer.unref()
    life.stopped.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  /** Calls servers until a request reaches one. **Errors**: those of `work`; Overloaded if every server is down. */
  async call<T>(work: (address: string) => Promise<T>, call?: ModelCall): Promise<T> {
    let last: unknown
    const tried = new Set<Backend>()
    for (let tries = 0; tries < maxTries; tries++) {
      const backend = this.#next(tried)
      if (backend === undefined) break
      tried.add(backend)
      try {
        const answer = await work(backend.address)
        backend.failures = 0
        return answer
      } catch (error) {
        if (!(error instanceof Unsent) || call?.signal.aborted === true) throw error
        last = error
        if (++backend.failures >= maxFailures) backend.closedUntil = performance.now() + openMs
      }
    }
    throw last ?? new Overloaded(`the remote model ${this.#model} cannot be reached`)
  }

  /** Never throws. */
  async check(): Promise<void> {
    const addresses = (await Promise.all(this.#urls.map(addressesOf))).flat()
    const known = new Map(this.#backends.map((backend) => [backend.address, backend]))
    this.#backends = addresses.map((address) => known.get(address) ?? { address, failures: 0, closedUntil: 0 })
    const ready = await Promise.all(
      this.#backends.map(async (backend) => {
        const isReady = await this.#isReady(backend.address).catch(() => false)
        if (isReady) backend.closedUntil = 0
        return isReady
      }),
    )
    const problem = ready.includes(true) ? undefined : `the remote model ${this.#model} is not ready`
    if (problem !== this.#problem && !this.#life.stopped.aborted) this.#life.report(problem)
    this.#problem = problem
  }

  /** Returns the next server that is not down; if all are down, the next one. */
  #next(tried: ReadonlySet<Backend>): Backend | undefined {
    const now = performance.now()
    const left = this.#backends.filter((backend) => !tried.has(backend))
    const open = left.filter(({ closedUntil }) => closedUntil <= now)
    if (open.length === 0) return undefined
    return open[this.#turn++ % open.length]
  }
}

async function addressesOf({ protocol, hostname, port }: URL): Promise<string[]> {
  const suffix = port === '' ? '' : `:${port}`
  const host = hostname.replace(/^\[|\]$/g, '')
  // The certificate of TLS is that of the name.
  if (isIP(host) !== 0 || protocol === 'https:') return [`${protocol}//${hostname}${suffix}`]
  try {
    const found = await lookup(host, { all: true })
    return found.map(({ address, family }) => `${protocol}//${family === 6 ? `[${address}]` : address}${suffix}`)
  } catch {
    return []
  }
}
