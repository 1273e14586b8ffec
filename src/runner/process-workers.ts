/**
 * Workers that are child processes, for native code that may crash or hang the process it is in.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type ErrorFields, errorFields, errorFromFields } from './remote-error.ts'
import { type Channel, type ModelWorker, WorkerEnded, type WorkerPool, type WorkerPoolOptions } from './worker.ts'

/** To the process: a message to handle, or one for the channel of an open stream. */
type Down = { readonly id: number; readonly message: unknown; readonly open: boolean } | ChannelPart
/** From the process: that it takes messages, a reply, a message of a stream's channel, or an unhandled rejection. */
type Up =
  | { readonly ready: true }
  | { readonly id: number; readonly reply: unknown }
  | ChannelPart
  | { readonly stray: ErrorFields }
interface ChannelPart {
  readonly id: number
  readonly part: unknown
}

/** Handles one message in the process; those of {@link ModelWorker.open} have a channel. */
export type ProcessHandler = (message: unknown, channel: Channel | undefined) => Promise<unknown>

/** Time in which a process may end by itself before it is killed. **Units**: milliseconds. */
const endMs = 1_000

/**
 * Starts child processes. They end with their parent, also when it is killed: their channel to it closes.
 * **Cost**: 60 ms and 45 MB a process measured; every message is serialised and copied through a pipe.
 */
export function startProcesses(options: WorkerPoolOptions): WorkerPool {
  const running = new Set<Child>()
  let stopping = false
  const start = () => {
    const child = new Child(options, () => {
      if (!stopping) options.up(child)
    })
    running.add(child)
    child.exited.then((cause) => {
      running.delete(child)
      if (stopping) return
      options.down(child, cause)
      start()
    })
  }
  for (let i = 0; i < options.count; i++) start()
  return {
    async stop() {
      stopping = true
      await Promise.all([...running].map((child) => child.end()))
    },
  }
}

interface Waiting {
  readonly resolve: (reply: unknown) => void
  readonly reject: (cause: Error) => void
}

class Child implements ModelWorker {
  readonly name: string
  readonly exited: Promise<WorkerEnded>
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #channels = new Map<number, (message: unknown) => void>()
  #ended: WorkerEnded | undefined
  #count = 0

  constructor(options: WorkerPoolOptions, up: () => void) {
    const { entry, memoryLimitMb } = options
    const limit = memoryLimitMb === undefined ? [] : [`--max-old-space-size=${memoryLimitMb}`]
    this.#process = fork(fileURLToPath(entry), [], {
      serialization: 'advanced',
      execArgv: [...process.execArgv, ...limit],
    })
    this.name = `process ${this.#process.pid}`
    this.exited = new Promise((resolve) => {
      const end = (text: string) => {
        this.#ended ??= new WorkerEnded(`${this.name} ended ${text}`)
        for (const { reject } of this.#waiting.values()) reject(this.#ended)
        this.#waiting.clear()
        resolve(this.#ended)
      }
      this.#process.once('exit', (code, signal) => end(signal === null ? `with code ${code}` : `by ${signal}`))
      // A process that could not be started has no exit.
      this.#process.on('error', (error) => this.#process.pid === undefined && end(`: ${error.message}`))
    })
    this.#process.on('message', (message) => {
      const sent = message as Up
      if ('part' in sent) this.#channels.get(sent.id)?.(sent.part)
      else if ('stray' in sent) options.stray(this, errorFromFields(sent.stray))
      else if ('reply' in sent) this.#settle(sent.id, sent.reply)
      else {
        up()
        this.#rest()
      }
    })
  }

  async run(message: unknown): Promise<unknown> {
    return await this.#send(++this.#count, message, false)
  }

  open(message: unknown) {
    const id = ++this.#count
    const done = this.#send(id, message, true).finally(() => this.#channels.delete(id))
    const channel: Channel = {
      post: (part) => this.#post({ id, part }),
      listen: (listener) => void this.#channels.set(id, listener),
      close: () => void this.#channels.delete(id),
    }
    return { channel, done }
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const timer = setTimeout(() => this.kill(), endMs)
    const exit = once(this.#process, 'exit')
    if (this.#process.connected) this.#process.disconnect()
    await exit
    clearTimeout(timer)
  }

  async #send(id: number, message: unknown, open: boolean): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#process.ref()
      this.#process.channel?.ref()
      try {
        this.#post({ id, message, open })
      } catch (error) {
        this.#waiting.delete(id)
        reject(error as Error)
      }
    })
  }

  #post(message: Down): void {
    // The exit of a process that has ended fails its calls.
    if (this.#process.connected) this.#process.send(message as object, () => {})
  }

  #settle(id: number, reply: unknown): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#rest()
    waiting?.resolve(reply)
  }

  /** Lets our process end while this one is idle, as Piscina's threads do. */
  #rest(): void {
    if (this.#waiting.size > 0) return
    this.#process.unref()
    this.#process.channel?.unref()
  }
}

/** Makes this process a worker: messages go to the handler, and what it resolves to goes back. */
export function serveProcess(handler: ProcessHandler): void {
  const channels = new Map<number, (message: unknown) => void>()
  const post = (message: Up) => process.connected && process.send?.(message, undefined, undefined, () => {})
  process.on('message', (down: Down) => {
    if ('part' in down) {
      channels.get(down.id)?.(down.part)
      return
    }
    const { id, message, open } = down
    const channel: Channel | undefined = open
      ? {
          post: (part) => void post({ id, part }),
          listen: (listener) => void channels.set(id, listener),
          close: () => void channels.delete(id),
        }
      : undefined
    void handler(message, channel).then((reply) => post({ id, reply }))
  })
  process.once('disconnect', () => process.exit(0))
  // The default would end the process, and by then it may be making another call.
  process.on('unhandledRejection', (reason) => void post({ stray: errorFields(reason) }))
  // A terminal sends Ctrl-C to the whole process group; the server ends this process when it is done.
  process.on('SIGINT', () => {})
  post({ ready: true })
}
