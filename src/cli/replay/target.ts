/** What recorded calls are sent to again. @module */
import { resolve } from 'node:path'
import { capturedApis } from '../../api/capture-options.ts'
import { descriptorOf } from '../../capture/captured-body.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { errorOf } from '../../client/serving-error.ts'
import { checkThat } from '../../core/options.ts'
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

/** Sends recorded calls again. */
export type Target = Awaited<ReturnType<typeof openTarget>>

/** @returns the target at an address, or the service that a file exports. */
export async function openTarget(against: string, flags: SenderFlags) {
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
      const value = await valueOf(answer, call, isGrpc).catch(() => failure('unreadable'))
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

/** An answer that is an error. */
export function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

async function valueOf(
  { fault, details, type = '', body = Buffer.alloc(0) }: Answer,
  { notes }: CapturedCall,
  isGrpc: boolean,
): Promise<unknown> {
  const status = Number(fault)
  if (status > 0) return errorOf(new Response(new Uint8Array(body), { status }))
  if (fault !== undefined) return failure(decodeErrorCode(details) ?? fault)
  const output = descriptorOf(notes.descriptors.output, undefined)
  if (isGrpc) return fromContent(output, decodeResponse(body))
  return output.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': type }), body))
}
