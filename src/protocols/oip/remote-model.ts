/** The module of Runners with a `url`: a model of another server. @module */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { InvalidArgument, Overloaded } from '../../core/errors.ts'
import { checkThat } from '../../core/options.ts'
import type { ModelCall } from '../../runner/model-host.ts'
import type { RemoteLife } from '../../runner/remote-options.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { datatypeFor } from './datatype.ts'
import { grpcTransport } from './remote-grpc.ts'
import { httpTransport } from './remote-http.ts'
import {
  type RemoteDescription,
  type RemoteInit,
  type RemoteTransport,
  Unsent,
} from './remote-transport.ts'
import type { Tensor } from './tensor.ts'

/**
 * Connects to a model's servers, which may come later: until then it is unready. Its methods throw the server's errors,
 * Overloaded if no server is reachable, and InternalError for an invalid answer.
 */
export async function load({ urls, life, ...name }: RemoteInit) {
  const { model } = name
  const isGrpc = urls.some((url) => url.startsWith('grpc'))
  const transport: RemoteTransport = isGrpc ? grpcTransport(name) : httpTransport(name)
  const backends = watchBackends(urls, transport.isReady, model, life)
  life.stopped.addEventListener('abort', () => transport.close?.(), { once: true })
  await backends.check()
  let description: Promise<RemoteDescription> | undefined
  const describe = (): Promise<RemoteDescription> => {
    description ??= backends.call(transport.describe)
    description.catch(() => {
      description = undefined
    })
    return description
  }
  const run = async (feeds: Readonly<Record<string, NDArray>>, call: ModelCall) => {
    const { inputs: known } = await describe()
    const inputs = Object.entries(feeds).map(([name, array]): Tensor => {
      checkThat(array instanceof NDArray, 'an NDArray', `input ${name}`, array)
      const wanted = known.find((each) => each.name === name)?.datatype
      return { name, datatype: datatypeFor(array.dtype, wanted), array }
    })
    const outputs = await backends.call((address) => transport.infer(address, inputs, call), call)
    return Object.fromEntries(outputs.map(({ name, array }) => [name, array]))
  }
  return {
    run,
    describe,
    async predict(x: NDArray, call: ModelCall) {
      const { inputs, outputs } = await describe()
      if (inputs.length !== 1) {
        throw new InvalidArgument(
          `predict takes models of one input, ${model} has ${inputs.length}; call run`,
        )
      }
      return (await run({ [inputs[0].name]: x }, call))[outputs[0].name]
    },
  }
}

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

function watchBackends(
  urls: readonly string[],
  isReady: (address: string) => Promise<boolean>,
  model: string,
  life: RemoteLife,
) {
  const parsed = urls.map((url) => new URL(url.replace(/^grpc/, 'http')))
  let backends: Backend[] = []
  let turn = 0
  let problem: string | undefined

  const next = (tried: ReadonlySet<Backend>): Backend | undefined => {
    const now = performance.now()
    const open = backends.filter((backend) => !tried.has(backend) && backend.closedUntil <= now)
    return open[turn++ % open.length]
  }

  /**
   * Calls servers until a request reaches one.
   *
   * @throws those of `work`; Overloaded if every server is down.
   */
  const call = async <T>(work: (address: string) => Promise<T>, given?: ModelCall): Promise<T> => {
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
    backends = addresses.map(
      (address) => known.get(address) ?? { address, failures: 0, closedUntil: 0 },
    )
    const ready = await Promise.all(
      backends.map(({ address }) => isReady(address).catch(() => false)),
    )
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

async function addressesOf({ protocol, hostname, host }: URL): Promise<string[]> {
  const name = hostname.replace(/^\[|\]$/g, '')
  // The certificate of TLS is that of the name.
  if (isIP(name) !== 0 || protocol === 'https:') return [`${protocol}//${host}`]
  const port = host.slice(hostname.length)
  try {
    const found = await lookup(name, { all: true })
    return found.map(({ address, family }) => {
      return `${protocol}//${family === 6 ? `[${address}]` : address}${port}`
    })
  } catch {
    return []
  }
}
