/** Load over HTTP/1.1 by node:http. @module */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Answer } from './open-loop.ts'
import { faultOf, faultOfError, rightAnswer, type Sender, type SenderOptions } from './sender.ts'

/** @returns what sends bodies to a URL. An answer is right if its status is 2xx and it comes whole. */
export function httpSender(url: URL, { headers, connections, timeoutMs }: SenderOptions): Sender {
  const isTls = url.protocol === 'https:'
  const agent = new (isTls ? HttpsAgent : Agent)({ keepAlive: true, maxSockets: connections })
  const open = isTls ? httpsRequest : httpRequest
  return {
    send: ({ bytes, contentType, method = 'POST', path = url.pathname + url.search }) =>
      new Promise<Answer>((resolve) => {
        const content = { 'content-type': contentType, 'content-length': bytes.length }
        const sent = { ...(contentType !== '' && content), ...headers }
        const request = open(url, { method, path, agent, headers: sent }, (response) =>
          readAnswer(response, resolve),
        )
        endAfter(request, timeoutMs)
        request.on('error', (error) => resolve(faultOfError(error)))
        request.end(bytes)
      }),
    close: () => agent.destroy(),
  }
}

function readAnswer(response: IncomingMessage, resolve: (answer: Answer) => void): void {
  const { statusCode = 0 } = response
  const isRight = statusCode >= 200 && statusCode < 300
  response.on('end', () => resolve(isRight ? rightAnswer : faultOf(String(statusCode))))
  response.on('error', (error) => resolve(faultOfError(error)))
  response.resume()
}

/** The timeout of node:http starts again with each byte. */
function endAfter(request: ClientRequest, timeoutMs: number): void {
  const late = Object.assign(new Error('no answer in time'), { code: 'timeout' })
  const timer = setTimeout(() => request.destroy(late), timeoutMs)
  request.on('close', () => clearTimeout(timer))
}
