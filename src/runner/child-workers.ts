/** Workers that are child processes, whatever program they run and however messages reach it. @module */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { deferred } from '../core/promise.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
  type ModelWorker,
  type Transfer,
  WorkerEnded,
  type WorkerPool,
  type WorkerPoolOptions,
} from './worker.ts'

/** To the process: a message to handle, or one for the channel of an open stream. */
export type Down =
  | { readonly kind: 'message'; readonly id: number; readonly message: unknown; readonly open: boolean }
  | ChannelPart
/** From the process: ready, a reply, a message of a stream, an unhandled rejection, or a printed line. */
export type Up =
  | { readonly kind: 'ready' }
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

/** Returns one end of a stream's channel. */
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
  /** Drops the message if the process has ended. **Errors**: of a message that cannot be sent. */
  post(message: Down, transfer: readonly Transfer[]): void
  close(): void
  kill(): void
  ref(): void
  unref(): void
}

/** Starts a process and calls `receive` with what it sends. */
export type OpenLink = (options: WorkerPoolOptions, index: number, receive: (message: Up) => void) => ChildLink

/** How long a process may take to end before it is killed. **Units**: milliseconds. */
const endMs = 1_000

/** Pause before the replacement of a process that ended before it was ready. **Units**: milliseconds. */
const pauseMs = 1_000

/** Starts child processes, and replaces each that ends. */
export function startChildren(options: WorkerPoolOptions, open: OpenLink): WorkerPool {
  const running = new Set<Child>()
  let stopping = false
  const start = (index: number) => {
    if (stopping) return
    let wasUp = false
    const child = new Child(options, index, open, () => {
      wasUp = true
      if (!stopping) options.up(child)
    })
    running.add(child)
    child.exited.then((cause) => {
      running.delete(child)
      if (stopping) return
      options.down(child, cause)
      if (wasUp) start(index)
      else setTimeout(start, pauseMs, index).unref()
    })
  }
  for (let i = 0; i < options.count; i++) start(i)
  return {
    async stop() {
      stopping = true
      await Promise.all([...running].map((child) => child.end()))
    },
  }
}

class Child implements ModelWorker {
  readonly name: string
  readonly index: number
  readonly exited: Promise<WorkerEnded>
  readonly #link: ChildLink
  readonly #waiting = new Map<number, ReturnType<typeof deferred<unknown>>>()
  readonly #channels: ChannelListeners = new Map()
  #ended: WorkerEnded | undefined
  #count = 0

  constructor(options: WorkerPoolOptions, index: number, open: OpenLink, up: () => void) {
    this.index = index
    this.#link = open(options, index, (sent) => {
      switch (sent.kind) {
        case 'part':
          return this.#channels.get(sent.id)?.(sent.part)
        case 'stray':
          return options.stray(this, errorFromFields(sent.error))
        case 'printed':
          return options.printed(this, sent.text)
        case 'reply':
          this.#waiting.get(sent.id)?.resolve(sent.reply)
          this.#waiting.delete(sent.id)
          return this.#rest()
        case 'ready':
          up()
          this.#rest()
      }
    })
    const { process } = this.#link
    this.name = `process ${process.pid}`
    this.exited = new Promise((resolve) => {
      const end = (text: string) => {
        this.#ended ??= new WorkerEnded(`${this.name} ended ${text}`)
        for (const { reject } of this.#waiting.values()) reject(this.#ended)
        this.#waiting.clear()
        resolve(this.#ended)
      }
      process.once('exit', (code, signal) => end(signal === null ? `with code ${code}` : `by ${signal}`))
      process.on('error', (error) => process.pid === undefined && end(`: ${error.message}`))
    })
  }

  async run(message: unknown, transfer: readonly Transfer[]): Promise<unknown> {
    return await this.#send(++this.#count, message, transfer, false)
  }

  open(message: unknown, transfer: readonly Transfer[]) {
    const id = ++this.#count
    const done = this.#send(id, message, transfer, true).finally(() => this.#channels.delete(id))
    return { channel: channelOf(this.#channels, id, (...part) => this.#link.post(...part)), done }
  }

  kill(): void {
    this.#link.kill()
  }

  async end(): Promise<void> {
    const { process } = this.#link
    if (process.exitCode !== null || process.signalCode !== null || process.pid === undefined) return
    const timer = setTimeout(() => this.kill(), endMs)
    const exit = once(process, 'exit')
    this.#link.close()
    await exit
    clearTimeout(timer)
  }

  async #send(id: number, message: unknown, transfer: readonly Transfer[], open: boolean): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended
    const reply = deferred<unknown>()
    this.#waiting.set(id, reply)
    this.#link.ref()
    try {
      this.#link.post({ kind: 'message', id, message, open }, transfer)
    } catch (error) {
      this.#waiting.delete(id)
      throw error
    }
    return await reply.promise
  }

  #rest(): void {
    if (this.#waiting.size === 0) this.#link.unref()
  }
}

/** Ends a process that leads a process group, and the processes that it started. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}
