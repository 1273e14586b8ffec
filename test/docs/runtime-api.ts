/**
 * The other side of Lambda's Runtime API, of 2018-06-01: hands out events, one at a time, and takes answers and errors.
 * An answer above 6 MB is refused with 413, as there.
 * @module
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What a function posts: `response` or `error` of an event, or `init` before its first one. */
export interface Posted {
  readonly kind: string
  readonly id: string
  readonly message: unknown
}

const prefix = '/2018-06-01/runtime'
const maxAnswerBytes = 6 * 1024 * 1024

/** A Runtime API on a free port of this machine. */
export class RuntimeApi {
  readonly #events: (readonly [id: string, event: unknown])[] = []
  readonly #posted = new Map<string, (posted: Posted) => void>()
  /** The poll of `next` that waits for an event. */
  #waiting: ServerResponse | undefined
  #count = 0
  readonly #server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const body = await text(request)
    if (request.method === 'GET' && path === `${prefix}/invocation/next`) {
      this.#waiting = response
      this.#give()
      return
    }
    const [, kind, id = '', end = ''] =
      /^\/2018-06-01\/runtime\/(init|invocation)\/([\w-]+)(?:\/(response|error))?$/.exec(path) ?? []
    if (request.method !== 'POST' || kind === undefined) {
      response.writeHead(404).end('no such path')
    } else if (end === 'response' && body.length > maxAnswerBytes) {
      response.writeHead(413).end('{"errorType":"RequestEntityTooLarge"}')
    } else {
      response.writeHead(202).end('{"status":"OK"}')
      const message = JSON.parse(body)
      if (kind === 'init') this.#posted.get('init')?.({ kind, id: '', message })
      else this.#posted.get(id)?.({ kind: end, id, message })
    }
  })

  /** @returns host and port, as AWS_LAMBDA_RUNTIME_API has them. */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Hands an event out, and resolves with what the function posts for it. */
  invoke(event: unknown): Promise<Posted> {
    const id = `8476a536-e9f4-11e8-9739-${String(++this.#count).padStart(12, '0')}`
    this.#events.push([id, event])
    this.#give()
    return new Promise((resolve) => this.#posted.set(id, resolve))
  }

  /** Resolves with the error of a function that could not begin. */
  initError(): Promise<Posted> {
    return new Promise((resolve) => this.#posted.set('init', resolve))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #give(): void {
    const next = this.#waiting && this.#events.shift()
    if (next === undefined) return
    const [id, event] = next
    const headers = {
      'lambda-runtime-aws-request-id': id,
      'lambda-runtime-deadline-ms': String(Date.now() + 3000),
    }
    this.#waiting?.writeHead(200, headers).end(JSON.stringify(event))
    this.#waiting = undefined
  }
}
