import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { deliveryBody, deliveryOf } from '../../src/jobs/delivery.ts'
import type { Attempt } from '../../src/jobs/job-store.ts'
import { isPublicAddress } from '../../src/jobs/public-addresses.ts'
import { StoredBody } from '../../src/jobs/stored-body.ts'
import { Webhooks } from '../../src/jobs/webhooks.ts'
import { noRows } from './stores.ts'

const secrets = ['a', 'b'].map((letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`)
const [oldSecret, newSecret] = secrets

interface Delivery {
  readonly request: IncomingMessage
  readonly body: string
}

let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
  server = undefined
})

/** Starts a receiver of webhooks. Returns its URL and what it receives. */
async function receiver(status: number, headers: Record<string, string> = {}) {
  const received: Delivery[] = []
  let connections = 0
  server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    received.push({ request, body })
    response.writeHead(status, headers).end('thanks')
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { received, port, url: `http://127.0.0.1:${port}/hook`, connections: () => connections }
}

const ended = {
  id: 'abcdefghijklmnopqrstuv',
  api: 'transcribe',
  status: 'completed',
  attempt: 1,
  createdAt: Date.UTC(2026, 0, 1),
  startedAt: Date.UTC(2026, 0, 1, 0, 0, 1),
  finishedAt: Date.UTC(2026, 0, 1, 0, 0, 2),
  responseStatus: 200,
} as const

/** An attempt at telling `url` that the job above has ended. */
function attempt(url: string, number = 1): Attempt {
  const job = deliveryOf({ id: ended.id, owner: undefined, webhook: { url } }, 0)
  const state = { status: 'running', attempt: number, isCancelRequested: false } as const
  return {
    job: { ...job, ...state },
    request: { ...job.request, body: StoredBody.of(deliveryBody(ended)) },
    state: undefined,
    number,
    starts: number,
    deaths: 0,
    signal: new AbortController().signal,
    over: Promise.resolve(),
    report: async () => {},
    rows: noRows,
  }
}

const open = new Webhooks({ secrets, allowPrivate: true })
const closed = new Webhooks({ secrets })

describe('a webhook', () => {
  it('is signed with each secret, so that receivers verify it by the old and by the new one', async () => {
    const { received, url } = await receiver(204)
    expect((await open.deliver(attempt(url))).kind).toBe('completed')
    const [{ request, body }] = received
    expect(request.method).toBe('POST')
    expect(request.headers['webhook-id']).toBe(`msg_${ended.id}`)
    const event = {
      type: 'job.completed',
      timestamp: '2026-01-01T00:00:02.000Z',
      data: {
        id: ended.id,
        api: 'transcribe',
        status: 'completed',
        attempt: 1,
        responseStatus: 200,
        createdAt: '2026-01-01T00:00:00.000Z',
        startedAt: '2026-01-01T00:00:01.000Z',
        finishedAt: '2026-01-01T00:00:02.000Z',
      },
    }
    const headers = request.headers as Record<string, string>
    for (const secret of [oldSecret, newSecret])
      expect(new Webhook(secret).verify(body, headers)).toEqual(event)
    const other = new Webhook(`whsec_${Buffer.alloc(32, 'c').toString('base64')}`)
    expect(() => other.verify(body, headers)).toThrow('No matching signature')
    expect(() => new Webhook(newSecret).verify(body.replace('200', '500'), headers)).toThrow(
      'No matching signature',
    )
  })

  it('is the same message at each try', async () => {
    const { received, url } = await receiver(500)
    for (const number of [1, 2])
      expect(await open.deliver(attempt(url, number))).toMatchObject({ mayRetry: true })
    const [first, second] = received
    expect(second.body).toBe(first.body)
    expect(second.request.headers['webhook-id']).toBe(first.request.headers['webhook-id'])
  })

  it('is tried again after five seconds, and hours later at last', async () => {
    const { url } = await receiver(500)
    const first = await open.deliver(attempt(url))
    expect(first.kind === 'failed' && first.retryAfterMs).toBeGreaterThanOrEqual(4_000)
    expect(first.kind === 'failed' && first.retryAfterMs).toBeLessThanOrEqual(6_000)
    const last = await open.deliver(attempt(url, 7))
    expect(last.kind === 'failed' && last.retryAfterMs).toBeGreaterThanOrEqual(46_080_000)
  })

  it.each([
    ['seconds', '3600', 3_600_000],
    ['too many seconds', '999999999', 86_400_000],
    ['words', 'later', 6_000],
  ])('waits as long as retry-after in %s asks', async (_, retryAfter, most) => {
    const { url } = await receiver(503, { 'retry-after': retryAfter })
    const outcome = await open.deliver(attempt(url))
    expect(outcome.kind === 'failed' && outcome.retryAfterMs).toBeLessThanOrEqual(most)
    expect(outcome.kind === 'failed' && outcome.retryAfterMs).toBeGreaterThanOrEqual(
      Math.min(most, 4_000),
    )
    if (most > 6_000) expect(outcome.kind === 'failed' && outcome.retryAfterMs).toBe(most)
  })

  it('waits until the date of retry-after', async () => {
    const { url } = await receiver(503, {
      'retry-after': new Date(Date.now() + 7_200_000).toUTCString(),
    })
    const outcome = await open.deliver(attempt(url))
    expect(outcome.kind === 'failed' && outcome.retryAfterMs).toBeGreaterThan(7_000_000)
  })

  it('is not sent again to a receiver that answers 410', async () => {
    const { url } = await receiver(410)
    expect(await open.deliver(attempt(url))).toMatchObject({ kind: 'failed', mayRetry: false })
  })

  it('follows no redirect: that is a failure', async () => {
    const { received, url } = await receiver(307, { location: '/elsewhere' })
    expect(await open.deliver(attempt(url))).toMatchObject({ kind: 'failed', mayRetry: true })
    expect(received.map(({ request }) => request.url)).toEqual(['/hook'])
  })

  it('is tried again where the receiver changes the protocol, or says nothing', async () => {
    for (const line of [
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      '',
    ]) {
      const other = createTcpServer((socket) => void socket.once('data', () => socket.end(line)))
      onTestFinished(() => void other.close())
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const { port } = other.address() as AddressInfo
      expect(await open.deliver(attempt(`http://127.0.0.1:${port}/`))).toMatchObject({
        kind: 'failed',
        mayRetry: true,
      })
    }
  })

  it('is tried again where nothing listens', async () => {
    const { url } = await receiver(200)
    server?.close()
    server?.closeAllConnections()
    expect(await open.deliver(attempt(url))).toMatchObject({ kind: 'failed', mayRetry: true })
  })
})

describe('a webhook to a host that is not public', () => {
  it('is refused when the connection is made, whatever the name is', async () => {
    const { port, connections } = await receiver(200)
    const outcome = await closed.deliver(attempt(`https://localhost:${port}/hook`))
    expect(outcome).toMatchObject({ kind: 'failed', mayRetry: false })
    expect(outcome.kind === 'failed' && String(outcome.response.body)).toMatch(
      /^localhost is at .+, which is not public$/,
    )
    expect(connections()).toBe(0)
  })

  it('is refused where it was accepted before, with http and with an address', async () => {
    const { url, port, connections } = await receiver(200)
    for (const each of [
      url,
      `https://127.0.0.1:${port}/`,
      `https://[::1]:${port}/`,
      `https://2130706433:${port}/`,
    ])
      expect(await closed.deliver(attempt(each))).toMatchObject({ kind: 'failed', mayRetry: false })
    expect(connections()).toBe(0)
  })

  it('is refused when a client names it', () => {
    closed.check('https://example.com/hook')
    const refused = [
      'http://example.com/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://0x7f.1/',
      'file:///etc/passwd',
    ]
    for (const url of [...refused, 'example.com', 'https://169.254.169.254/latest/meta-data'])
      expect(() => closed.check(url), url).toThrow(
        'expected a URL of https with a public host for webhook-url',
      )
    open.check('http://localhost:3000/')
    expect(() => open.check('ftp://localhost/')).toThrow('expected a URL of http or https')
  })

  it.each([
    ...['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'].map(
      (each) => [each, true] as const,
    ),
    ...['0.0.0.0', '10.1.2.3', '100.100.100.200', '127.8.8.8', '168.63.129.16'].map(
      (each) => [each, false] as const,
    ),
    ...['169.254.169.254', '172.16.0.1', '192.0.0.192', '192.168.1.1', '198.18.0.1'].map(
      (each) => [each, false] as const,
    ),
    ...['224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:8.8.8.8'].map(
      (each) => [each, false] as const,
    ),
    ...['::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fc00::1', 'fd00:ec2::254'].map(
      (each) => [each, false] as const,
    ),
    ...['fe80::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::'].map(
      (each) => [each, false] as const,
    ),
  ])('knows of %s whether it is public', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic)
  })
})

describe('secrets of webhooks', () => {
  it.each([
    ['no prefix', Buffer.alloc(32).toString('base64')],
    ['too few bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too many bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['other characters', `whsec_${'!'.repeat(40)}`],
  ])('are refused with %s, and not shown', (_, secret) => {
    const make = () => new Webhooks({ secrets: [secret] })
    expect(make).toThrow(
      `expected whsec_ and base64 of 24 to 64 bytes for webhooks.secrets, received "${secret.length}`,
    )
    expect(make).not.toThrow(secret)
  })

  it('are one or two', () => {
    for (const list of [[], [...secrets, oldSecret]])
      expect(() => new Webhooks({ secrets: list })).toThrow(
        'expected one secret or two for webhooks.secrets',
      )
  })
})
