import { io } from 'serving'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { requestOf } from './requests.ts'

const fails = (text: string) =>
  text === 'bad' ? Promise.reject(new Error('database is down')) : Promise.resolve(true)

/** Schemas with a check that rejects, by how they show that they are asynchronous. */
const schemas = {
  'an async function': z.string().refine(async (text) => fails(text)),
  'an async transform in an object': z.object({
    id: z.string().transform(async (text) => (await fails(text)) && text),
  }),
  'an async function in elements': z.array(z.string().refine(async (text) => fails(text))),
} as const

describe('a schema of zod whose check rejects', () => {
  // A rejection that nobody handles ends a worker.
  const unhandled: unknown[] = []
  const keep = (reason: unknown) => unhandled.push(reason)
  let others: NodeJS.UnhandledRejectionListener[] = []
  beforeEach(() => {
    others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', keep)
    unhandled.length = 0
  })
  afterEach(() => {
    process.off('unhandledRejection', keep)
    for (const each of others) process.on('unhandledRejection', each)
  })

  it.each([
    ['an async function', '"bad"'],
    ['an async transform in an object', '{"id":"bad"}'],
    ['an async function in elements', '["bad"]'],
    ['an async function in elements', JSON.stringify(new Array(2000).fill('bad'))],
  ] as const)('fails its request alone: %s', async (name, body) => {
    const read = async () => new io.JSON({ schema: schemas[name] }).fromHttpRequest(requestOf(body))
    await expect(read()).rejects.toThrow('database is down')
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(unhandled).toEqual([])
  })

  it('is one to wait for once it has answered later, however its function looks', async () => {
    const schema = z.string().superRefine((text) => fails(text) as unknown as Promise<void>)
    const descriptor = new io.JSON({ schema })
    expect(await descriptor.fromHttpRequest(requestOf('"good"'))).toBe('good')
    await expect((async () => descriptor.fromHttpRequest(requestOf('"bad"')))()).rejects.toThrow(
      'database is down',
    )
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(unhandled).toEqual([])
  })

  it('does not fail fromSample, which does not wait for it', async () => {
    expect(io.JSON.fromSample('"bad"', { schema: schemas['an async function'] }).sample).toBe('bad')
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(unhandled).toEqual([])
  })
})

describe('an asynchronous schema', () => {
  it('gives what it makes of a value, or what it finds wrong', async () => {
    const schema = z.object({ id: z.string().refine(async (text) => text !== 'no', 'not this') })
    const descriptor = new io.JSON({ schema })
    expect(await descriptor.fromHttpRequest(requestOf('{"id":"yes","more":1}'))).toEqual({
      id: 'yes',
    })
    const refused = Promise.resolve(descriptor.fromHttpRequest(requestOf('{"id":"no"}')))
    await expect(refused).rejects.toMatchObject({
      reason: 'schema',
      issues: [{ path: 'id', message: 'not this' }],
    })
  })
})
