/** The models of a worker process: its requests to the models of all workers go through its supervisor. @module */
import { answerGroup, type GroupAnswer, type GroupRequest, joinModelGroup } from '../../oip/model-group.ts'
import {
  isMessageOf,
  type ModelRequest,
  type RelayReply,
  sendToSupervisor,
  type WorkerMessage,
} from './worker-messages.ts'
import { supervisorChannel, WorkerPoll } from './worker-poll.ts'

const answerMs = 150_000

/** Makes this process one of those that load, unload and count together. */
export class ModelMember {
  readonly #poll = new WorkerPoll<readonly GroupAnswer[], WorkerMessage>()

  constructor() {
    process.on('message', (message: unknown) => {
      if (isMessageOf<ModelRequest>('model_request', message)) void this.#answer(message)
      else if (isMessageOf<RelayReply>('relay_reply', message))
        this.#poll.take(supervisorChannel, message.id, message.answers)
    })
    joinModelGroup((request) => this.#ask(request))
  }

  async #answer({ id, request }: ModelRequest): Promise<void> {
    await sendToSupervisor({ type: 'model_reply', id, answer: await answerGroup(request) })
  }

  /** Never rejects: a supervisor always answers, and this process ends with it. */
  async #ask(request: GroupRequest): Promise<readonly GroupAnswer[]> {
    const requestOf = (id: number) => ({ type: 'relay_request', id, request }) as const
    return (await this.#poll.ask([supervisorChannel], answerMs, requestOf)).answers.flat()
  }
}
