/** Passes the requests that one worker process makes of all models to the others: load, unload, statistics. @module */
import type { GroupAnswer } from '../../oip/model-group.ts'
import { isMessageOf, type ModelReply, type RelayRequest, type WorkerReady } from './worker-messages.ts'
import { type WorkerChannel, WorkerPoll } from './worker-poll.ts'

/** How long the other workers are waited for. A model may take long to load. **Units**: milliseconds. */
const relayMs = { load: 120_000, unload: 120_000, statistics: 2_000 }

/** Relays requests between the workers of a supervisor. */
export class ModelRelay {
  readonly #workers = new Set<WorkerChannel>()
  readonly #poll = new WorkerPoll<GroupAnswer>()
  // A worker that starts has loaded the whole folder.
  readonly #unloaded = new Set<string>()

  follow(worker: WorkerChannel): void {
    worker.on('message', (message) => {
      if (isMessageOf<RelayRequest>('relay_request', message)) void this.#relay(worker, message)
      else if (isMessageOf<ModelReply>('model_reply', message)) this.#poll.take(worker, message.id, message.answer)
      else if (isMessageOf<WorkerReady>('ready', message)) this.#onReady(worker)
    })
    worker.process.on('close', () => {
      this.#workers.delete(worker)
      this.#poll.end(worker)
    })
  }

  #onReady(worker: WorkerChannel): void {
    this.#workers.add(worker)
    for (const name of this.#unloaded) {
      const request = { action: 'unload', name, version: '' } as const
      void this.#poll.ask([worker], relayMs.unload, (id) => ({ type: 'model_request', id, request }))
    }
  }

  async #relay(sender: WorkerChannel, { id, request }: RelayRequest): Promise<void> {
    const { action, name } = request
    if (action === 'unload') this.#unloaded.add(name)
    else if (action === 'load') this.#unloaded.delete(name)
    const others = [...this.#workers].filter((worker) => worker !== sender)
    const requestOf = (id: number) => ({ type: 'model_request', id, request }) as const
    const { answers, late } = await this.#poll.ask(others, relayMs[action], requestOf)
    const missing = Array.from({ length: late }, () => ({ error: 'it did not answer in time' }))
    sender.send({ type: 'relay_reply', id, answers: [...answers, ...missing] }, () => {})
  }
}
