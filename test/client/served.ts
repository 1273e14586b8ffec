/** The service of `service.ts`, and a client of it. */
import { readFileSync } from 'node:fs'
import { createClient, ServingError } from 'serving/client'
import { afterAll, expect } from 'vitest'
import { serve } from '../../src/server/listener.ts'
import type * as service from './service.ts'
import svc from './service.ts'

/** Serves until the tests of a file, which calls this outside of them, are over. */
export async function served() {
  const listener = await serve(svc, { port: 0, host: '127.0.0.1', baseUrl: '/v1' })
  afterAll(() => listener.close())
  const url = `http://127.0.0.1:${listener.port}/v1`
  return { url, client: createClient<typeof service>(url) }
}

export const picture = new Blob(
  [readFileSync(new URL('../../examples/all/pattern.png', import.meta.url))],
  {
    type: 'image/png',
  },
)

/** Returns the error of a call that should fail. */
export async function failure(call: Promise<unknown>): Promise<ServingError> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ServingError)
  return error
}
