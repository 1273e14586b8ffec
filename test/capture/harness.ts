/** Serves a service that records calls, and reads what it has recorded. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { CaptureOptions } from '../../src/api/capture-options.ts'
import { filesOf, foldersOf } from '../../src/capture/place.ts'
import { type CapturedRow, readCalls } from '../../src/capture/read-rows.ts'
import type { ServeOptions } from '../../src/engine/options.ts'
import { Service, type ServiceOptions, serve } from '../../src/index.ts'

/** A folder that is deleted after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'serving-capture-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Serves on a free port, and records all calls below a folder. */
export async function startCapture(
  define: (svc: Service) => void,
  capture: Partial<CaptureOptions> = {},
  {
    serviceOptions = {},
    serveOptions = {},
  }: {
    readonly serviceOptions?: ServiceOptions
    readonly serveOptions?: ServeOptions
  } = {},
) {
  const path = capture.to?.replace(/^file:/, '') ?? folder()
  const settings = { rate: 1, to: `file:${path}`, ...capture }
  const svc = new Service('captured', { version: '1.2.3', capture: settings, ...serviceOptions })
  define(svc)
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const listener = await serve(svc, { port: 0, host: '127.0.0.1', logger, ...serveOptions })
  onTestFinished(() => listener.close())
  const base = `http://127.0.0.1:${listener.port}`
  return {
    listener,
    base,
    path,
    log: () => lines.join(''),
    post(api: string, body: unknown, headers: Record<string, string> = {}) {
      const isJson = !(
        typeof body === 'string' ||
        body instanceof Uint8Array ||
        body instanceof FormData
      )
      const type: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {}
      const sent = isJson ? JSON.stringify(body) : (body as string)
      return fetch(`${base}/${api}`, {
        method: 'POST',
        headers: { ...type, ...headers },
        body: sent,
      })
    },
    /** Ends the server, and returns what it has recorded of an API. */
    async rows(api: string): Promise<CapturedRow[]> {
      await listener.close()
      return rowsOf(join(path, api))
    },
  }
}

/** Returns the rows of all files of a folder. */
export async function rowsOf(place: string): Promise<CapturedRow[]> {
  const rows: CapturedRow[] = []
  const [{ store }] = await foldersOf(place)
  for (const file of await filesOf(store))
    for await (const { row } of readCalls(store, file)) rows.push(row)
  return rows
}

/** The columns of a row that begin with `input`, `output` or `params`. */
export function valuesOf(row: CapturedRow): CapturedRow {
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => /^(input|output|params)/.test(name)),
  )
}
