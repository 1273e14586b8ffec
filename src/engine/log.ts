/** The server's log. The only file that imports pino. @module */
import { type Logger, pino } from 'pino'
import { causesOf, ServingError } from '../core/errors.ts'
import type { LogLevel } from './log-levels.ts'
import { logPipe, openPipe, TurnLines } from './log-pipe.ts'
import { prettyLine } from './pretty-lines.ts'

/** The logger that a server writes to. */
export type { Logger } from 'pino'

/** The default logger, on standard error: text on a terminal, JSON lines elsewhere. */
export function createLogger(level: LogLevel = 'info'): Logger {
  const options = { name: 'serving', level, serializers: { err: errorFields } }
  if (process.stderr.isTTY) {
    const colours = process.env.NO_COLOR === undefined
    return pino(options, {
      write: (line: string) => void process.stderr.write(prettyLine(line, colours)),
    })
  }
  const pipe = openPipe(2)
  if (pipe === undefined)
    return pino(options, new TurnLines(pino.destination({ dest: 2, sync: true })))
  const dropped = (count: number) =>
    `${JSON.stringify({
      level: 40,
      time: Date.now(),
      pid: process.pid,
      name: 'serving',
      event: 'log_dropped',
      count,
    })}\n`
  return pino(options, new TurnLines(logPipe(pipe, dropped)))
}

function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return { ...pino.stdSerializers.err(error), message: `${error.message}${causesOf(error)}` }
}

/** Writes nothing, and calls `onError` with logged errors. */
export function silentLogger(onError: (error: Error) => void): Logger {
  const log = pino({ level: 'silent' })
  log.error = (fields: unknown) => {
    const { err } = fields as { readonly err?: unknown }
    if (err instanceof Error) onError(err)
  }
  return log
}

/** Faults of the server with stack and causes; mistakes of clients at debug, or they could fill the disk. */
export function logFailure(
  log: Logger,
  error: Error,
  requestId: string,
  api?: string,
  job?: string,
): void {
  const { code = 'internal', status = 500 }: Partial<ServingError> = ServingError.is(error)
    ? error
    : {}
  const fields = { requestId, api, job, code }
  if (status < 500 || code === 'overloaded')
    log.debug({ ...fields, reason: error.message }, 'request refused')
  else if (code === 'deadline_exceeded') log.warn(fields, 'request deadline passed')
  else log.error({ ...fields, err: error }, 'request failed')
}
