/** What recorded calls are sent to again. @module */
import { resolve } from 'node:path'
import { capturedApis } from '../../api/capture-options.ts'
import { bodyOf, descriptorOf, messageOf } from '../../capture/captured-body.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { errorOf } from '../../client/serving-error.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { IODescriptor } from '../../descriptors/descriptor.ts'
import { fromContent } from '../../descriptors/proto-content.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { decodeResponse } from '../../messages/envelope.ts'
import { decodeErrorCode } from '../../messages/rpc-error.ts'
import { rpcServices } from '../../messages/service-names.ts'
import { serve } from '../../server/listener.ts'
import { grpcSender } from '../load/grpc-sender.ts'
import type { SenderOptions } from '../load/sender.ts'
import { loadService } from '../load-service.ts'

/** What came of a call. */
export interface Answered {
  /** As the output descriptor of the recorded API reads it; an error with a code. */
  readonly value: unknown
  /** From the request to the whole answer. **Units**: milliseconds. */
  readonly ms: number
}

/** Sends recorded calls again. */
export interface Target {
  /** @returns why the call cannot be sent as a string. Never rejects. */
  ask(call: CapturedCall): Promise<Answered | string>
  close(): unknown
}

/** Arrays and frames with their types, where the server has them. */
const accept =
  'application/x-npy, application/vnd.apache.parquet, application/json;q=0.9, */*;q=0.1'

/** @returns the target at an address, or the service that a file exports, which records nothing meanwhile. */
export async function openTarget(against: string, options: SenderOptions): Promise<Target> {
  if (/^https?:/.test(against)) return httpTarget(against, options)
  if (/^grpcs?:/.test(against)) return grpcTarget(against, options)
  const service = await loadService(resolve(against))
  for (const { api } of capturedApis(service)) Object.assign(api, { capture: false })
  const listener = await serve(service, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
  const close = () => listener.close()
  return { ...httpTarget(`http://127.0.0.1:${listener.port}`, options), close }
}

/** An answer that is an error. */
export function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function httpTarget(against: string, { headers, timeoutMs }: SenderOptions): Target {
  return {
    async ask(call) {
      const request = await bodyOf(call)
      if (typeof request === 'string') return request
      const { method, path } = request
      const body = request.body === undefined ? null : new Uint8Array(request.body)
      return answered(call, async () => {
        const response = await fetch(against.replace(/\/$/, '') + path, {
          method,
          headers: { accept, ...headers, ...request.headers },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        })
        if (!response.ok) return errorOf(response)
        const lines = HeaderList.from({
          'content-type': response.headers.get('content-type') ?? '',
        })
        const bytes = new Uint8Array(await response.arrayBuffer())
        return (output) => output.fromHttpRequest(new HttpRequest(lines, bytes))
      })
    },
    close: () => undefined,
  }
}

function grpcTarget(against: string, options: SenderOptions): Target {
  const url = new URL(`/${rpcServices[0]}/Call`, against)
  const headers = { accept, ...options.headers }
  const sender = grpcSender(url, { ...options, headers, keepsAnswers: true })
  return {
    async ask(call) {
      const { status, error } = call.row
      if (Number(status) >= 400 && error === undefined) return 'gRPC has no such status'
      const message = await messageOf(call)
      if (typeof message === 'string') return message
      return answered(call, async () => {
        const answer = await sender.send({ bytes: Buffer.from(message), contentType: '' })
        const { fault, details, message: bytes = Buffer.alloc(0) } = answer
        if (fault !== undefined) return failure(decodeErrorCode(details) ?? fault)
        return (output) => fromContent(output, decodeResponse(bytes))
      })
    },
    close: () => sender.close(),
  }
}

type Read = (output: IODescriptor) => MaybePromise<unknown>

async function answered(
  { notes }: CapturedCall,
  send: () => Promise<Read | Error>,
): Promise<Answered> {
  const start = performance.now()
  const answer = await send().catch(({ name }) =>
    failure(name === 'TimeoutError' ? 'timeout' : 'network'),
  )
  const ms = performance.now() - start
  if (answer instanceof Error) return { value: answer, ms }
  try {
    return { value: await answer(descriptorOf(notes.descriptors.output, undefined)), ms }
  } catch {
    return { value: failure('unreadable'), ms }
  }
}
