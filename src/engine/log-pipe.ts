/** How lines of the log are written: those of a turn at once, to a pipe whose reader may stop reading. @module */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

const retryMs = 100
const maxWaitingBytes = 1024 * 1024

/**
 * Writes lines at once while the pipe has room. Else up to 1 MiB waits: a write that waits for the reader would stop
 * the event loop. Further lines are dropped and counted. (pino's own destination sleeps or loses lines at exit
 * there.)
 */
export class LogPipe {
  readonly #fd: number
  readonly #droppedLine: (count: number) => string
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  constructor(fd: number, droppedLine: (count: number) => string) {
    this.#fd = fd
    this.#droppedLine = droppedLine
  }

  write(lines: string): void {
    const bytes = Buffer.from(lines)
    if (this.#waiting.length === 0) {
      const written = this.#writeSome(bytes)
      if (written === bytes.length) return
      this.#wait(bytes.subarray(written))
    } else if (this.#waitingBytes + bytes.length <= maxWaitingBytes) this.#wait(bytes)
    else this.#dropped += lines.split('\n').length - 1
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#timer ??= setInterval(() => this.#retry(), retryMs).unref()
  }

  #retry(): void {
    while (this.#waiting.length > 0) {
      const written = this.#writeSome(this.#waiting[0])
      this.#waitingBytes -= written
      if (written < this.#waiting[0].length) {
        this.#waiting[0] = this.#waiting[0].subarray(written)
        return
      }
      this.#waiting.shift()
    }
    clearInterval(this.#timer)
    this.#timer = undefined
    const dropped = this.#dropped
    this.#dropped = 0
    if (dropped > 0) this.write(this.#droppedLine(dropped))
  }

  #writeSome(bytes: Buffer): number {
    let done = 0
    try {
      while (done < bytes.length) done += writeSync(this.#fd, bytes, done)
      return done
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? done : bytes.length
    }
  }
}

/**
 * Reopens the pipe behind a descriptor as non-blocking: the flag on the descriptor itself would apply to all
 * processes that share it. Undefined for anything but a pipe.
 */
export function openPipe(fd: number): number | undefined {
  try {
    // As bigints, whose memory is separate: Node's realpath (of 20.20) reads what the last plain stat left behind, and
    // follows no symbolic links after one of a pipe.
    if (!fstatSync(fd, { bigint: true }).isFIFO()) return undefined
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

const warn = 40
const maxText = 64 * 1024

/**
 * Writes the lines of one turn of the event loop at once: a system call for each request costs more than the request.
 * From level `warn` on, lines are written before `write` returns.
 */
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
