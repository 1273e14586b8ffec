import { type Listener, serve } from 'serving'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { silent } from '../rpc/harness.ts'
import { type HostileBody, hostileBodies } from './hostile.ts'
import svc from './regressions.service.ts'

interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** What a body must not change. */
const good: HostileBody = {
  title: 'a good neighbour',
  path: '/json_echo',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"n":3}'),
  status: 200,
  answer: '{"n":3}',
}

function check(wanted: HostileBody, { status, type, text }: Answer): void {
  const reason =
    type === 'application/problem+json'
      ? (JSON.parse(text) as { reason?: string }).reason
      : undefined
  expect(
    { status, ...(wanted.reason === undefined ? {} : { reason }) },
    text.slice(0, 500),
  ).toEqual({
    status: wanted.status,
    ...(wanted.reason === undefined ? {} : { reason: wanted.reason }),
  })
  if (status >= 400) expect(type).toBe('application/problem+json')
  if (wanted.answer !== undefined) expect(text).toBe(wanted.answer)
}

describe.each(engines)('bodies that once broke something, on %s', (engine) => {
  let listener: Listener
  let pool: Pool
  const send = async ({ path, headers, body }: HostileBody): Promise<Answer> => {
    const answer = await pool.request({ method: 'POST', path, headers, body })
    return {
      status: answer.statusCode,
      type: String(answer.headers['content-type']),
      text: await answer.body.text(),
    }
  }
  beforeAll(async () => {
    listener = await serve(svc, { port: 0, host: '127.0.0.1', engine, logger: silent })
    pool = new Pool(`http://127.0.0.1:${listener.port}`, { connections: 4 })
  })
  afterAll(async () => {
    await pool.close()
    await listener.close()
  })

  it.each(hostileBodies)('$title', async (body) => {
    const [answer, neighbour] = await Promise.all([send(body), send(good)])
    check(body, answer)
    check(good, neighbour)
  })
})
