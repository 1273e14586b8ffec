/** A worker that is a child process, whatever program it runs and however messages reach it. @module */
import type { ChildProcess } from 'node:child_process'
import { Questions } from '../core/questions.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
  type ModelWorker,
  type Transfer,
  WorkerEnded,
  type WorkerOptions,
} from './worker.ts'

/** To the process: a message to handle, or one for the channel of an open stream. */
export type Down =
  | {
      readonly kind: 'message'
      readonly id: number
      readonly message: unknown
      readonly open: boolean
    }
  | ChannelPart
/** From the process: a reply, a message of a stream, an unhandled rejection, or a printed line. */
export type Up =
  | { readonly kind: 'reply'; readonly id: number; readonly reply: unknown }
  | ChannelPart
  | { readonly kind: 'stray'; readonly error: ErrorFields }
  | { readonly kind: 'printed'; readonly text: string }
interface ChannelPart {
  readonly kind: 'part'
  readonly id: number
  readonly part: unknown
}

/** The listeners to the channels of open streams, by the numbers of their messages. */
export type ChannelListeners = Map<number, (part: unknown) => void>

/** @returns one end of a stream's channel. */
export function channelOf(
  listeners: ChannelListeners,
  id: number,
  post: (message: ChannelPart, transfer: readonly Transfer[]) => void,
): Channel {
  return {
    post: (part, transfer = []) => post({ kind: 'part', id, part }, transfer),
    listen: (listener) => void listeners.set(id, listener),
    close: () => void listeners.delete(id),
  }
}

/** A child process and the way to it. */
export interface ChildLink {
  readonly process: ChildProcess
  /**
   * Drops the message if the process has ended.
   *
   * @returns a promise if it is sent later.
   * @throws of a message that cannot be sent, also by the promise.
   */
  post(message: Down, transfer: readonly Transfer[]): Promise<void> | undefined
  close(): void
  kill(): void
  ref(): void
  unref(): void
}

/** Starts a process and calls `receive` with what it sends. */
export type OpenLink = (
  options: WorkerOptions,
  index: number,
  receive: (message: Up) => void,
) => ChildLink

/** How long a process may take to end before it is killed. **Units**: milliseconds. */
const endMs = 1_000

/** A child process that runs a model. */
export class ChildWorker implements ModelWorker {
  readonly name: string
  readonly ended: Promise<WorkerEnded>
  readonly #options: WorkerOptions
  readonly #link: ChildLink
  readonly #questions = new Questions()
  readonly #channels: ChannelListeners = new Map()

  constructor(options: WorkerOptions, index: number, open: OpenLink) {
    this.#options = options
    this.#link = open(options, index, (message) => this.#receive(message))
    const { process } = this.#link
    this.name = `process ${process.pid}`
    this.ended = new Promise((resolve) => {
      const end = (text: string) => {
        const cause = new WorkerEnded(text)
        this.#questions.end(cause)
        resolve(cause)
      }
      process.once('exit', (code, signal) =>
        end(`${this.name} ended ${signal === null ? `with code ${code}` : `by ${signal}`}`),
      )
      process.on('error', (error) => process.pid === undefined && end(startFailure(error)))
    })
  }

  open(message: unknown, transfer: readonly Transfer[]) {
    let number = 0
    const done = this.run(message, transfer, (id) => {
      number = id
    }).finally(() => this.#channels.delete(number))
    return {
      channel: channelOf(this.#channels, number, (...part) => this.#post(...part)),
      done,
    }
  }

  kill(): void {
    this.#link.kill()
  }

  async end(): Promise<void> {
    const timer = setTimeout(() => this.#link.kill(), endMs)
    this.#link.close()
    await this.ended
    clearTimeout(timer)
  }

  /** `opened`: gets the number of a message with a channel. */
  async run(
    message: unknown,
    transfer: readonly Transfer[],
    opened?: (id: number) => void,
  ): Promise<unknown> {
    try {
      return await this.#questions.ask((id) => {
        opened?.(id)
        this.#link.ref()
        this.#post({ kind: 'message', id, message, open: opened !== undefined }, transfer)
      })
    } finally {
      if (this.#questions.size === 0) this.#link.unref()
    }
  }

  #post(message: Down, transfer: readonly Transfer[]): void {
    const { id } = message
    this.#link.post(message, transfer)?.catch((error) => this.#questions.refuse(id, error))
  }

  #receive(sent: Up): void {
    switch (sent.kind) {
      case 'part':
        this.#channels.get(sent.id)?.(sent.part)
        break
      case 'stray':
        this.#options.stray(this, errorFromFields(sent.error))
        break
      case 'printed':
        this.#options.printed(this, sent.text)
        break
      case 'reply':
        this.#questions.answer(sent.id, sent.reply)
    }
  }
}

/** @returns why a program could not be started. */
export function startFailure({ code, path, message }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' ? `there is no program ${path}` : message
}

/** Ends a process that leads a process group, and the processes that it started. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}
