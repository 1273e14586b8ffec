/** Writes the log: lines of a turn at once, and to a pipe whose reader may stop reading. @module */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

const retryMs = 100
const maxWaitingBytes = 1024 * 1024

/**
 * Keeps up to 1 MiB for a full pipe, then drops and counts lines: pino's own destination blocks or loses lines.
 *
 * @returns the destination of a log.
 */
export function logPipe(fd: number, droppedLine: (count: number) => string) {
  let waiting: Buffer = Buffer.alloc(0)
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    waiting = waiting.subarray(writeSome(fd, waiting))
    if (waiting.length > 0) {
      timer ??= setInterval(flush, retryMs).unref()
      return
    }
    clearInterval(timer)
    timer = undefined
    const count = dropped
    dropped = 0
    if (count > 0) write(droppedLine(count))
  }
  const write = (lines: string) => {
    const bytes = Buffer.from(lines)
    if (waiting.length > 0 && waiting.length + bytes.length > maxWaitingBytes) {
      dropped += lines.split('\n').length - 1
      return
    }
    waiting = Buffer.concat([waiting, bytes])
    if (timer === undefined) flush()
  }
  return { write }
}

function writeSome(fd: number, bytes: Buffer): number {
  let done = 0
  try {
    while (done < bytes.length) done += writeSync(fd, bytes, done)
    return done
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? done : bytes.length
  }
}

/** Reopens a pipe as non-blocking: the flag on `fd` would apply to all processes that share it. */
export function openPipe(fd: number): number | undefined {
  try {
    // As bigints: Node 20's realpath reads what the last plain stat left behind.
    if (!fstatSync(fd, { bigint: true }).isFIFO()) return undefined
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

const warn = 40
const maxText = 64 * 1024

/** Writes the lines of a turn in one system call; those from level `warn` on before `write` returns. */
export class TurnLines {
  /** Set by pino before each line. */
  lastLevel = 0
  readonly #sink: { write(text: string): unknown }
  readonly #flush = () => {
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#sink.write(text)
  }
  #text = ''

  constructor(sink: { write(text: string): unknown }) {
    this.#sink = sink
    Object.assign(this, { [Symbol.for('pino.metadata')]: true })
    process.on('exit', this.#flush)
  }

  write(line: string): void {
    if (this.#text === '' && this.lastLevel < warn) setImmediate(this.#flush)
    this.#text += line
    if (this.lastLevel >= warn || this.#text.length > maxText) this.#flush()
  }
}
