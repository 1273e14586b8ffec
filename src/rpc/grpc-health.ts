/** gRPC's health service. **Source**: grpc/health/v1/health.proto. @module */

import { grpcStatuses } from '../core/errors.ts'
import { count, text } from '../messages/field-types.ts'
import { message, messages, messageType } from '../messages/message-type.ts'
import { answerPlainly, type GrpcMethod, type GrpcStream } from './grpc-stream.ts'

const serviceName = 'grpc.health.v1.Health'
// HealthCheckResponse.ServingStatus.
const servingStatus = Object.freeze({ serving: 1, notServing: 2, unknownService: 3 })
const maxBytes = 4096

const checkRequest = messageType({ service: [1, text] })
const checkAnswer = messageType({ status: [1, count] })
const entry = messageType({
  key: [1, text],
  value: [2, message(checkAnswer)],
})
const listAnswer = messageType({
  statuses: [1, messages(entry, maxBytes, 'services')],
})

/** All services of a server have the same health. */
export class GrpcHealth {
  readonly #names: ReadonlySet<string>
  readonly #watchers = new Set<GrpcStream>()
  #status: number = servingStatus.serving

  /** `names`: of the services; the empty one is the whole server. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  drain(): void {
    this.#status = servingStatus.notServing
    const bytes = checkAnswer.encode({ status: this.#status })
    for (const call of this.#watchers) call.write({ bytes })
    this.#watchers.clear()
  }

  methods(): readonly (readonly [string, GrpcMethod])[] {
    const check = answerPlainly(maxBytes, (call, message) => {
      const { service: name = '' } = checkRequest.decode(message)
      if (this.#names.has(name)) call.end({ bytes: checkAnswer.encode({ status: this.#status }) })
      else {
        const details = `expected the name of a service, received ${name.slice(0, 200)}`
        call.refuse({ code: grpcStatuses.NOT_FOUND.number, details })
      }
    })
    const watch = answerPlainly(maxBytes, (call, message) => {
      const isKnown = this.#names.has(checkRequest.decode(message).service ?? '')
      call.write({ bytes: checkAnswer.encode({ status: isKnown ? this.#status : servingStatus.unknownService }) })
      if (!isKnown || this.#status !== servingStatus.serving) return
      this.#watchers.add(call)
      call.stream.once('close', () => this.#watchers.delete(call))
    })
    const list = answerPlainly(maxBytes, (call) => {
      const statuses = Array.from(this.#names, (key) => ({ key, value: { status: this.#status } }))
      call.end({ bytes: listAnswer.encode({ statuses }) })
    })
    return [
      [`/${serviceName}/Check`, check],
      [`/${serviceName}/Watch`, watch],
      [`/${serviceName}/List`, list],
    ]
  }
}
