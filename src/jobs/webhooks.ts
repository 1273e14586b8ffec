import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BadInput, expected } from '../core/errors.ts'
import { checkThat } from '../core/options.ts'
import { deliveryNote, deliveryWaits, type EndedJob } from './delivery.ts'
import { timeOf } from './job-answers.ts'
import type { Attempt, Outcome } from './job-store.ts'
import { AddressRefused, isRefusedHost, lookupPublic } from './public-addresses.ts'
import { unlimited } from './stored-body.ts'

/** How webhooks are sent. */
export interface WebhookOptions {
  /** `whsec_` with base64 of 24 to 64 bytes; two while receivers change from the old to the new one. */
  readonly secrets: readonly string[]
  /** Also sends to `http:` and to addresses of this machine and its network: for tests and closed networks. */
  readonly allowPrivate?: boolean
}

const timeoutMs = 15_000
const longestWaitMs = 86_400_000

/**
 * Tells other servers that jobs have ended: `POST` with JSON, signed by Standard Webhooks. A delivery is a job of its
 * own ({@link deliveryApi}), so that it is tried for a day and outlives restarts.
 */
export class Webhooks {
  readonly #keys: readonly Buffer[]
  readonly #allowPrivate: boolean

  /** @throws InvalidArgument. */
  constructor({ secrets, allowPrivate = false }: WebhookOptions) {
    checkThat(
      secrets.length === 1 || secrets.length === 2,
      'one secret or two',
      'webhooks.secrets',
      secrets.length,
    )
    this.#keys = secrets.map(keyOf)
    this.#allowPrivate = allowPrivate
  }

  /**
   * Checks the URL that a client names when it submits a job.
   *
   * @throws BadInput.
   */
  check(url: string): void {
    const what = this.#allowPrivate ? 'a URL of http or https' : 'a URL of https with a public host'
    if (!URL.canParse(url) || !this.#admits(new URL(url)))
      throw new BadInput(expected(what, 'webhook-url', url))
  }

  #admits({ protocol, hostname }: URL): boolean {
    if (this.#allowPrivate) return protocol === 'https:' || protocol === 'http:'
    return protocol === 'https:' && !isRefusedHost(hostname)
  }

  /** Runs an attempt at a job of {@link deliveryApi}. Never rejects. */
  readonly deliver = async ({
    job,
    request,
    number,
    signal,
    report,
  }: Attempt): Promise<Outcome> => {
    const wait =
      deliveryWaits[Math.min(number, deliveryWaits.length) - 1] * (800 + Math.random() * 400)
    const failed = async (text: string, mayRetry: boolean, retryAfterMs: number) => {
      const nextTryAt = timeOf(Date.now() + retryAfterMs)
      // Of the last try the answer tells.
      if (mayRetry && number <= deliveryWaits.length)
        await report('progress', JSON.stringify({ reason: text, nextTryAt }))
      return { kind: 'failed', response: note(502, text), mayRetry, retryAfterMs } as const
    }
    try {
      const message = messageOf(
        JSON.parse(Buffer.from(await request.body.bytes(unlimited)).toString()),
      )
      const response = await this.#post(job.webhook?.url ?? '', message, signal)
      response.destroy()
      const { statusCode: status = 0, headers } = response
      if (status >= 200 && status < 300)
        return { kind: 'completed', response: note(200, `answered ${status}`) }
      const asked = retryAfterMs(headers['retry-after']) ?? 0
      const text = `expected a status of 2xx of the receiver, it answered ${status}`
      return await failed(text, status !== 410, Math.min(longestWaitMs, Math.max(wait, asked)))
    } catch (error) {
      const { message } = error as Error
      return await failed(message, !(error instanceof AddressRefused), wait)
    }
  }

  #post(
    url: string,
    { id, body }: ReturnType<typeof messageOf>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { protocol, hostname } = new URL(url)
    if (!this.#admits(new URL(url)))
      throw new AddressRefused(`${protocol}//${hostname} is not a public host of https`)
    const timestamp = Math.floor(Date.now() / 1000)
    const signed = this.#keys.map(
      (key) =>
        `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    )
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signed.join(' '),
    }
    const options = {
      method: 'POST',
      headers,
      // No connection is kept: its address is looked at when it is made.
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(!this.#allowPrivate && { lookup: lookupPublic }),
    }
    return new Promise((resolve, reject) => {
      const send = protocol === 'https:' ? requestHttps : requestHttp
      const sent = send(url, options, resolve).on('error', reject)
      // Without an error after an answer of 101.
      sent
        .on('close', () =>
          reject(new Error('the receiver closed the connection without an answer')),
        )
        .end(body)
    })
  }
}

/**
 * Its id is the same at each try.
 *
 * @see standard-webhooks specification 1.0.0.
 */
function messageOf({ createdAt, startedAt, finishedAt, ...job }: EndedJob) {
  const times = {
    createdAt: timeOf(createdAt),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
  }
  const event = {
    type: `job.${job.status}`,
    timestamp: times.finishedAt,
    data: { ...job, ...times },
  }
  return { id: `msg_${job.id}`, body: JSON.stringify(event) }
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const isSecret = /^whsec_[A-Za-z0-9+/]+=*$/.test(secret) && key.length >= 24 && key.length <= 64
  // The message must not show it.
  checkThat(
    isSecret,
    'whsec_ and base64 of 24 to 64 bytes',
    'webhooks.secrets',
    `${secret.length} characters`,
  )
  return key
}

function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : ms
}

/** The answer of a delivery's job: a line for whoever looks at it. */
function note(status: number, text: string) {
  return { status, headers: [['content-type', deliveryNote]] as const, body: Buffer.from(text) }
}
