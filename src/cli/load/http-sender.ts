/** Requests over HTTP/1.1 by node:http. @module */
import { Agent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { answerWithin, faultOf, type Sender, type SenderFlags } from './sender.ts'

/** @returns what sends requests to a URL. An answer is right if its status is 2xx and it comes whole. */
export function httpSender(url: URL, { header, connections, timeout }: SenderFlags): Sender {
  const isTls = url.protocol === 'https:'
  const agent = new (isTls ? HttpsAgent : Agent)({ keepAlive: true, maxSockets: connections })
  const open = isTls ? httpsRequest : httpRequest
  return {
    send: ({ method = 'POST', path = url.pathname + url.search, body, ...rest }) =>
      answerWithin(timeout, (settle) => {
        const fail = (error: Error) => settle(faultOf(error))
        const length = body && { 'content-length': body.length }
        const sent = { ...length, ...rest.headers, ...header }
        const request = open(url, { method, path, agent, headers: sent }, (response) => {
          const { statusCode: status = 0 } = response
          const { 'content-type': type } = response.headers
          const isRight = status >= 200 && status < 300
          const fault = isRight ? undefined : String(status)
          const pieces: Buffer[] = []
          response.on('data', (piece) => pieces.push(piece)).on('error', fail)
          response.on('end', () => settle({ fault, type, body: Buffer.concat(pieces) }))
        })
        request.on('error', fail).end(body)
        return () => request.destroy()
      }),
    close: () => agent.destroy(),
  }
}
