/** Sends recorded calls again, and compares what comes with what came then. @module */
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { capturedApis } from '../../api/capture-options.ts'
import { descriptorOf, valueOf } from '../../capture/captured-value.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { errorOf } from '../../client/serving-error.ts'
import { errorText } from '../../core/errors.ts'
import { BinaryFile } from '../../core/file/binary-file.ts'
import { checkThat, isRecord } from '../../core/options.ts'
import { Image } from '../../descriptors/image.ts'
import { fromContent } from '../../descriptors/proto-content.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { decodeResponse } from '../../messages/envelope.ts'
import { decodeErrorCode } from '../../messages/rpc-error.ts'
import { rpcServices } from '../../messages/service-names.ts'
import { serve } from '../../server/listener.ts'
import type { Tolerance } from '../../values/difference.ts'
import { type Answer, openSender, type SenderFlags } from '../load/senders.ts'
import { addOne } from '../load/summary.ts'
import { loadService } from '../load-service.ts'
import { requestOf, timeOf } from '../recorded-calls.ts'
import { addCompared, type Figures, newFigures } from './report.ts'

/** Flags of `serving replay`. */
export interface ReplayFlags extends Tolerance, SenderFlags {
  readonly against: string
  /** Share of the calls. */
  readonly sample: number
  /** How often as fast as recorded; undefined: as fast as it goes. */
  readonly speed?: number
  readonly request?: string
  /** Share of the calls that may change. */
  readonly allow: number
  readonly report?: string
  readonly save?: string
  readonly json?: boolean
}

/**
 * @param calls - In their order, if `flags` has a speed.
 * @returns the figures of each API.
 */
export async function replay(
  calls: AsyncGenerator<CapturedCall>,
  flags: ReplayFlags,
): Promise<Figures[]> {
  const target = await openTarget(flags)
  const { speed = Infinity, connections } = flags
  const apis = new Map<string, Figures>()
  const start = performance.now()
  let first = Infinity
  // Each takes the next call once the last one is answered.
  const sendInTurn = async () => {
    for await (const call of calls) {
      first = Math.min(first, timeOf(call))
      const aheadMs = start + (timeOf(call) - first) / speed - performance.now()
      if (aheadMs > 0) await wait(aheadMs)
      const { api } = call.notes
      const figures = apis.get(api) ?? newFigures(api)
      apis.set(api, figures)
      try {
        addCompared(figures, call, await answersOf(call, target.ask), flags)
      } catch (error) {
        addOne(figures.skipped, errorText(error))
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, sendInTurn))
  } finally {
    await target.close()
  }
  return [...apis.values()]
}

/**
 * @returns what a call had, what came then, and what comes now.
 * @throws why they cannot be compared.
 */
async function answersOf(call: CapturedCall, ask: Target['ask']) {
  const { row } = call
  const redacted = (row.redacted ?? []) as readonly string[]
  if (redacted.length > 0) throw new Error(`${redacted.join(', ')} was redacted`)
  const isError = Number(row.status) >= 400
  const code = String(row.error ?? `http_${row.status}`)
  const expected = isError ? failure(code) : await pixelsOf(valueOf(call, 'output'))
  const { value, ms } = await ask(call)
  return { input: valueOf(call, 'input'), expected, actual: await pixelsOf(value), ms }
}

/** An answer that is an error. */
function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** @returns a value whose pictures are pixels: files of two can differ, and show the same. */
async function pixelsOf(value: unknown): Promise<unknown> {
  if (value instanceof BinaryFile) {
    if (!value.mimeType.startsWith('image/')) return value
    const image = new Image({ pilmode: null })
    const decode = async ({ bytes, mimeType }: BinaryFile) => image.fromBytes(bytes, mimeType)
    return decode(value).catch(() => value)
  }
  if (Array.isArray(value) && holdsFile(value)) return Promise.all(value.map(pixelsOf))
  if (!isRecord(value) || !Object.values(value).some(holdsFile)) return value
  const parts = Object.entries(value).map(async ([name, part]) => [name, await pixelsOf(part)])
  return Object.fromEntries(await Promise.all(parts))
}

const holdsFile = (part: unknown) => [part].flat()[0] instanceof BinaryFile

/** Arrays and frames with their types, where the server has them. */
const accept =
  'application/x-npy, application/vnd.apache.parquet, application/json;q=0.9, */*;q=0.1'

type Target = Awaited<ReturnType<typeof openTarget>>

/** @returns the target at an address, or the service that a file exports. */
async function openTarget({ against, ...flags }: ReplayFlags) {
  const isAddress = /^(http|grpc)s?:/.test(against)
  const listener = isAddress ? undefined : await serveFile(against)
  const address = listener === undefined ? against : `http://127.0.0.1:${listener.port}`
  checkThat(URL.canParse(address), 'service.ts, http://HOST or grpc://HOST', '--against', against)
  const url = new URL(address)
  const isGrpc = url.protocol.startsWith('grpc')
  const base = url.pathname.replace(/\/$/, '')
  if (isGrpc) url.pathname = `/${rpcServices[0]}/Call`
  const sender = openSender(url, { ...flags, header: { accept, ...flags.header } })
  return {
    /**
     * @returns what came, as the output descriptor of the recorded API reads it, or an error with a code, and when.
     * @throws why the call cannot be sent.
     */
    async ask(call: CapturedCall) {
      const { status, error } = call.row
      if (isGrpc && Number(status) >= 400 && error === undefined)
        throw new Error('gRPC has no such status')
      const request = await requestOf(call, isGrpc)
      const start = performance.now()
      const answer = await sender.send({ ...request, path: base + request.path })
      const ms = performance.now() - start
      const value = await valueIn(answer, call, isGrpc).catch(() => failure('unreadable'))
      return { value, ms }
    },
    async close() {
      sender.close()
      await listener?.close()
    },
  }
}

/** It records nothing meanwhile. */
async function serveFile(file: string) {
  const service = await loadService(resolve(file))
  for (const { api } of capturedApis(service)) Object.assign(api, { capture: false })
  return serve(service, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
}

async function valueIn(
  { fault, details, type = '', body = Buffer.alloc(0) }: Answer,
  { notes }: CapturedCall,
  isGrpc: boolean,
): Promise<unknown> {
  const status = Number(fault)
  if (status > 0) return errorOf(new Response(new Uint8Array(body), { status }))
  if (fault !== undefined) return failure(decodeErrorCode(details) ?? fault)
  const output = descriptorOf(notes.descriptors.output)
  if (isGrpc) return fromContent(output, decodeResponse(body))
  return output.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': type }), body))
}
