/**
 * Passes what one worker process wants of all models to the others: load, unload, statistics.
 * @module
 */
import type { GroupAnswer, GroupRequest } from '../oip/model-group.ts'
import {
  type GroupAnswers,
  type GroupAsked,
  type GroupTold,
  type GroupWanted,
  isMessageOf,
  type WorkerReady,
} from './worker-messages.ts'

/** How long the other workers are waited for. A model may take long to load. **Units**: milliseconds. */
export const relayMs = { load: 120_000, unload: 120_000, statistics: 2_000 }

/** The part of a worker of node:cluster that this needs. */
export interface Told {
  readonly process: { on(event: 'close', listener: () => void): unknown }
  on(event: 'message', listener: (message: unknown) => void): unknown
  send(message: GroupAsked | GroupAnswers, callback: (error: Error | null) => void): boolean
}

interface Waiting {
  readonly missing: Set<Told>
  readonly answers: GroupAnswer[]
  readonly done: () => void
}

/** Relays requests between the workers of a supervisor. */
export class ModelRelay {
  // Those that serve.
  readonly #workers = new Set<Told>()
  readonly #waiting = new Map<number, Waiting>()
  // A worker that starts has loaded the whole folder.
  readonly #unloaded = new Set<string>()
  #ids = 0

  /** Relays the requests of a worker from now on. */
  follow(worker: Told): void {
    worker.on('message', (message) => {
      if (isMessageOf<GroupWanted>('group_wanted', message)) void this.#relay(worker, message)
      else if (isMessageOf<GroupTold>('group_told', message)) this.#told(worker, message)
      else if (isMessageOf<WorkerReady>('ready', message)) this.#started(worker)
    })
    worker.process.on('close', () => {
      this.#workers.delete(worker)
      // What has ended serves no model.
      for (const id of this.#waiting.keys()) this.#told(worker, { type: 'group_told', id, answer: {} })
    })
  }

  #started(worker: Told): void {
    this.#workers.add(worker)
    for (const name of this.#unloaded) this.#ask(worker, 0, { action: 'unload', name, version: '' })
  }

  async #relay(asker: Told, { id, request }: GroupWanted): Promise<void> {
    const { action, name } = request
    if (action === 'unload') this.#unloaded.add(name)
    else if (action === 'load') this.#unloaded.delete(name)
    const missing = new Set(this.#workers)
    missing.delete(asker)
    const answers: GroupAnswer[] = []
    if (missing.size > 0) await this.#askAll(missing, answers, request)
    for (const _ of missing) answers.push({ error: 'it did not answer in time' })
    asker.send({ type: 'group_answers', id, answers }, () => {})
  }

  async #askAll(missing: Set<Told>, answers: GroupAnswer[], request: GroupRequest): Promise<void> {
    const id = ++this.#ids
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, relayMs[request.action])
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.set(id, { missing, answers, done })
      for (const worker of missing) this.#ask(worker, id, request)
    })
    this.#waiting.delete(id)
  }

  /** The callback of `send` receives the error of a worker that has just died; `close` follows. */
  #ask(worker: Told, id: number, request: GroupRequest): void {
    worker.send({ type: 'group_asked', id, request }, () => {})
  }

  #told(worker: Told, { id, answer }: GroupTold): void {
    const waiting = this.#waiting.get(id)
    if (waiting?.missing.delete(worker) !== true) return
    waiting.answers.push(answer)
    if (waiting.missing.size === 0) waiting.done()
  }
}
