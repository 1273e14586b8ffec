/**
 * Joins log lines into fewer writes.
 * @module
 */

/** Pino's level `warn`. */
const warn = 40
/** **Units**: characters. */
const maxText = 64 * 1024

/**
 * Writes the lines of one turn of the event loop at once: a line for each request would be a system call for each,
 * which takes longer than the rest of a small request. From level `warn` on, lines are written before `write` returns,
 * and the earlier ones with them; all are when the process exits.
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
    // Makes pino set `lastLevel`.
    Object.assign(this, { [Symbol.for('pino.metadata')]: true })
    process.on('exit', this.#flush)
  }

  write(line: string): void {
    if (this.#text === '' && this.lastLevel < warn) setImmediate(this.#flush)
    this.#text += line
    if (this.lastLevel >= warn || this.#text.length > maxText) this.#flush()
  }
}
