/** Runs a service with jobs on a store of its own, and asks it by fetch. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { EngineName, ServeOptions } from '../../src/engine/options.ts'
import { type Listener, Service, type ServiceOptions, serve } from '../../src/index.ts'

/** A job as its paths show it. */
export interface JobDocument {
  readonly id: string
  readonly status: string
  readonly attempt: number
  readonly [member: string]: unknown
}

export interface Served {
  readonly listener: Listener
  readonly base: string
  readonly file: string
  /** All lines of the log, as text. */
  log(): string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** Submits JSON, or text, and returns the path of the job. */
  submit(path: string, body: unknown, headers?: Record<string, string>): Promise<string>
  /** Waits for the answer of a job. */
  result(job: string): Promise<Response>
  status(job: string): Promise<JobDocument>
}

/** A folder that is deleted after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'serving-jobs-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Serves on a free port until the test is over. `file`: of the store. */
export async function start(
  engine: EngineName,
  define: (svc: Service) => void,
  options: ServeOptions = {},
  serviceOptions: ServiceOptions = {},
  file = join(folder(), 'jobs.db'),
): Promise<Served> {
  const svc = new Service('tested', { jobs: { store: `sqlite:${file}` }, ...serviceOptions })
  define(svc)
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const settings = { port: 0, host: '127.0.0.1', engine, logger, drainTimeoutMs: 0, ...options }
  const listener = await serve(svc, settings)
  onTestFinished(() => listener.close())
  const base = `http://127.0.0.1:${listener.port}`
  const get = (path: string, headers = {}) => fetch(base + path, { headers })
  const post = (path: string, body?: unknown, headers = {}) => {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const type = { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' }
    const sent = body === undefined ? null : isText ? (body as string) : JSON.stringify(body)
    return fetch(base + path, { method: 'POST', headers: { ...type, ...headers }, body: sent })
  }
  return {
    listener,
    base,
    file,
    log: () => lines.join(''),
    get,
    post,
    async submit(path, body, headers = {}) {
      const answer = await post(path, body, { prefer: 'respond-async', ...headers })
      if (answer.status !== 202)
        throw new Error(`expected 202, received ${answer.status}: ${await answer.text()}`)
      return answer.headers.get('location') as string
    },
    result: (job) => get(`${job}/result`, { prefer: 'wait=20' }),
    status: async (job) => (await (await get(job)).json()) as JobDocument,
  }
}

/** The members of an answer in JSON. */
export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>
}

/** An event of a stream. */
export interface StreamEvent {
  readonly id: number
  readonly event: string
  readonly data: Record<string, unknown>
}

/** Reads the events of a stream to its end. Comments are left out. */
export function eventsOf(text: string): StreamEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
      return { id: Number(field('id')), event: field('event'), data: JSON.parse(field('data')) }
    })
}
