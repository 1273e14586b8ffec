/** Writes the log: lines of a turn at once, and to a pipe whose reader may stop reading. @module */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

const retryMs = 100
const maxWaitingBytes = 1024 * 1024

/** Keeps up to 1 MiB for a full pipe, then drops and counts lines: pino's own destination blocks or loses lines. */
export class LogPipe {
  readonly #fd: number
  readonly #droppedLine: (count: number) => string
  #waiting: Buffer = Buffer.alloc(0)
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  constructor(fd: number, droppedLine: (count: number) => string) {
    this.#fd = fd
    this.#droppedLine = droppedLine
  }

  write(lines: string): void {
    const bytes = Buffer.from(lines)
    if (this.#waiting.length > 0 && this.#waiting.length + bytes.length > maxWaitingBytes) {
      this.#dropped += lines.split('\n').length - 1
      return
    }
    this.#waiting = Buffer.concat([this.#waiting, bytes])
    if (this.#timer === undefined) this.#flush()
  }

  #flush(): void {
    this.#waiting = this.#waiting.subarray(this.#writeSome(this.#waiting))
    if (this.#waiting.length > 0) {
      this.#timer ??= setInterval(() => this.#flush(), retryMs).unref()
      return
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
