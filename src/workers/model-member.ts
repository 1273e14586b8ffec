/**
 * The models of a worker process: what it wants of those of all workers goes through its supervisor.
 * @module
 */
import { answerGroup, type GroupAnswer, type GroupRequest, joinModelGroup } from '../oip/model-group.ts'
import { send } from './metrics-member.ts'
import { type GroupAnswers, type GroupAsked, isMessageOf } from './worker-messages.ts'

/** Makes this process one of those that load, unload and count together. */
export class ModelMember {
  readonly #pending = new Map<number, (answers: readonly GroupAnswer[]) => void>()
  #ids = 0

  constructor() {
    process.on('message', (message: unknown) => {
      if (isMessageOf<GroupAsked>('group_asked', message)) void this.#answer(message)
      else if (isMessageOf<GroupAnswers>('group_answers', message)) this.#settle(message.id, message.answers)
    })
    joinModelGroup((request) => this.#ask(request))
  }

  async #answer({ id, request }: GroupAsked): Promise<void> {
    await send({ type: 'group_told', id, answer: await answerGroup(request) })
  }

  /** Never rejects: a supervisor always answers, and this process ends with it. */
  #ask(request: GroupRequest): Promise<readonly GroupAnswer[]> {
    const id = ++this.#ids
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      void send({ type: 'group_wanted', id, request })
    })
  }

  #settle(id: number, answers: readonly GroupAnswer[]): void {
    this.#pending.get(id)?.(answers)
    this.#pending.delete(id)
  }
}
