/** What recorded calls are sent to again. @module */
import { resolve } from 'node:path'
import { capturedApis } from '../../api/capture-options.ts'
import { descriptorOf } from '../../capture/captured-body.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { errorOf } from '../../client/serving-error.ts'
import { expected, InvalidArgument } from '../../core/errors.ts'
import { fromContent } from '../../descriptors/proto-content.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { decodeResponse } from '../../messages/envelope.ts'
import { decodeErrorCode } from '../../messages/rpc-error.ts'
import { rpcServices } from '../../messages/service-names.ts'
import { serve } from '../../server/listener.ts'
import { type Answer, openSender, type SenderFlags } from '../load/senders.ts'
import { loadService } from '../load-service.ts'
import { requestOf } from '../recorded-calls.ts'

/** Arrays and frames with their types, where the server has them. */
const accept =
  'application/x-npy, application/vnd.apache.parquet, application/json;q=0.9, */*;q=0.1'

/** @returns the target at an address, or the service that a file exports, which records nothing meanwhile. */
export async function openTarget(against: string, flags: SenderFlags) {
  if (/^(http|grpc)s?:/.test(against)) {
    if (URL.canParse(against)) return targetAt(new URL(against), flags)
    const what = 'service.ts, http://HOST or grpc://HOST'
    throw new InvalidArgument(expected(what, '--against', against))
  }
  const service = await loadService(resolve(against))
  for (const { api } of capturedApis(service)) Object.assign(api, { capture: false })
  const listener = await serve(service, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
  const target = targetAt(new URL(`http://127.0.0.1:${listener.port}`), flags)
  return { ...target, close: () => Promise.all([target.close(), listener.close()]) }
}

/** Sends recorded calls again. */
export type Target = ReturnType<typeof targetAt>

/** An answer that is an error. */
export function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function targetAt(against: URL, flags: SenderFlags) {
  const isGrpc = against.protocol.startsWith('grpc')
  const base = against.pathname.replace(/\/$/, '')
  if (isGrpc) against.pathname = `/${rpcServices[0]}/Call`
  const sender = openSender(against, { ...flags, header: { accept, ...flags.header } })
  const valueOf = isGrpc ? grpcValue : httpValue
  return {
    /**
     * @returns what came, as the output descriptor of the recorded API reads it, or an error with a code, and when.
     * Why the call cannot be sent as a string.
     */
    async ask(call: CapturedCall) {
      const { status, error } = call.row
      if (isGrpc && Number(status) >= 400 && error === undefined) return 'gRPC has no such status'
      const request = await requestOf(call, isGrpc)
      if (typeof request === 'string') return request
      const path = base + request.path
      const start = performance.now()
      const answer = await sender.send(isGrpc ? request : { ...request, path })
      const ms = performance.now() - start
      return { value: await valueOf(answer, call).catch(() => failure('unreadable')), ms }
    },
    close: (): unknown => sender.close(),
  }
}

async function httpValue({ fault, type, body }: Answer, { notes }: CapturedCall) {
  if (fault !== undefined) {
    if (!(Number(fault) >= 200)) return failure(fault)
    return errorOf(new Response(new Uint8Array(body ?? []), { status: Number(fault) }))
  }
  const output = descriptorOf(notes.descriptors.output, undefined)
  const lines = HeaderList.from({ 'content-type': type ?? '' })
  return output.fromHttpRequest(new HttpRequest(lines, body ?? new Uint8Array(0)))
}

async function grpcValue({ fault, details, body }: Answer, { notes }: CapturedCall) {
  if (fault !== undefined) return failure(decodeErrorCode(details) ?? fault)
  const output = descriptorOf(notes.descriptors.output, undefined)
  return fromContent(output, decodeResponse(body ?? new Uint8Array(0)))
}
