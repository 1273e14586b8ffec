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
export interface Backends {
  /** Calls servers until a request reaches one. **Errors**: those of `work`; Overloaded if every server is down. */
  call<T>(work: (address: string) => Promise<T>, call?: ModelCall): Promise<T>
  /** Never rejects. */
  check(): Promise<void>
}

/** Checks the servers regularly. */
export function watchBackends(
  urls: readonly string[],
  isReady: (address: string) => Promise<boolean>,
  model: string,
  life: RemoteLife,
): Backends {
  const parsed = urls.map((url) => new URL(url.replace(/^grpc/, 'http')))
  let backends: Backend[] = []
  let turn = 0
  let problem: string | undefined

  /** Returns the next server that is not down. */
  const next = (tried: ReadonlySet<Backend>): Backend | undefined => {
    const now = performance.now()
    const open = backends.filter((backend) => !tried.has(backend) && backend.closedUntil <= now)
    return open.length === 0 ? undefined : open[turn++ % open.length]
  }

  const call: Backends['call'] = async (work, given) => {
    let last: unknown
    const tried = new Set<Backend>()
    for (let tries = 0; tries < maxTries; tries++) {
      const backend = next(tried)
      if (backend === undefined) break
      tried.add(backend)
      try {
        const answer = await work(backend.address)
        backend.failures = 0
        return answer
      } catch (error) {
        if (!(error instanceof Unsent) || given?.signal.aborted === true) throw error
        last = error
        if (++backend.failures >= maxFailures) backend.closedUntil = performance.now() + openMs
      }
    }
    throw last ?? new Overloaded(`the remote model ${model} cannot be reached`)
  }

  const check = async () => {
    const addresses = (await Promise.all(parsed.map(addressesOf))).flat()
    const known = new Map(backends.map((backend) => [backend.address, backend]))
    backends = addresses.map((address) => known.get(address) ?? { address, failures: 0, closedUntil: 0 })
    const ready = await Promise.all(backends.map(({ address }) => isReady(address).catch(() => false)))
    for (const [i, backend] of backends.entries()) if (ready[i]) backend.closedUntil = 0
    const found = ready.includes(true) ? undefined : `the remote model ${model} is not ready`
    if (found !== problem && !life.stopped.aborted) life.report(found)
    problem = found
  }

  const timer = setInterval(() => void check(), checkMs)
  timer.unref()
  life.stopped.addEventListener('abort', () => clearInterval(timer), { once: true })
  return { call, check }
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
