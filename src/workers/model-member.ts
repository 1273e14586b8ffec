/**
 * The models of a worker process: its requests to the models of all workers go through its supervisor.
 * @module
 */
import { answerGroup, type GroupAnswer, type GroupRequest, joinModelGroup } from '../oip/model-group.ts'
import { isMessageOf, type ModelRequest, type RelayReply, sendToSupervisor } from './worker-messages.ts'

/** Makes this process one of those that load, unload and count together. */
export class ModelMember {
  readonly #pending = new Map<number, (answers: readonly GroupAnswer[]) => void>()
  #ids = 0

  constructor() {
    process.on('message', (message: unknown) => {
      if (isMessageOf<ModelRequest>('model_request', message)) void this.#answer(message)
      else if (isMessageOf<RelayReply>('relay_reply', message)) this.#settle(message.id, message.answers)
    })
    joinModelGroup((request) => this.#ask(request))
  }

  async #answer({ id, request }: ModelRequest): Promise<void> {
    await sendToSupervisor({ type: 'model_reply', id, answer: await answerGroup(request) })
  }

  /** Never rejects: a supervisor always answers, and this process ends with it. */
  #ask(request: GroupRequest): Promise<readonly GroupAnswer[]> {
    const id = ++this.#ids
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      void sendToSupervisor({ type: 'relay_request', id, request })
    })
  }

  #settle(id: number, answers: readonly GroupAnswer[]): void {
    this.#pending.get(id)?.(answers)
    this.#pending.delete(id)
  }
}
