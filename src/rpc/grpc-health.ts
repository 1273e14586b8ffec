/**
 * gRPC's health service.
 *
 * @see grpc/health/v1/health.proto.
 * @module
 */

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
const entry = messageType({ key: [1, text], value: [2, message(checkAnswer)] })
const listAnswer = messageType({ statuses: [1, messages(entry, maxBytes, 'services')] })

/** gRPC's health service of a server. */
export interface GrpcHealth {
  readonly methods: readonly (readonly [string, GrpcMethod])[]
  drain(): void
}

/** All services of a server have the same health. `names`: of the services; the empty one is the whole server. */
export function grpcHealth(names: readonly string[]): GrpcHealth {
  const watchers = new Set<GrpcStream>()
  let status: number = servingStatus.serving
  const check = answerPlainly(maxBytes, (call, message) => {
    const { service: name = '' } = checkRequest.decode(message)
    if (names.includes(name)) call.end({ bytes: checkAnswer.encode({ status }) })
    else {
      const details = `expected the name of a service, received ${name.slice(0, 200)}`
      call.refuse({ code: grpcStatuses.NOT_FOUND.number, details })
    }
  })
  const watch = answerPlainly(maxBytes, (call, message) => {
    const isKnown = names.includes(checkRequest.decode(message).service ?? '')
    call.write({
      bytes: checkAnswer.encode({ status: isKnown ? status : servingStatus.unknownService }),
    })
    if (!isKnown || status !== servingStatus.serving) return
    watchers.add(call)
    call.stream.once('close', () => watchers.delete(call))
  })
  const list = answerPlainly(maxBytes, (call) => {
    call.end({
      bytes: listAnswer.encode({ statuses: names.map((key) => ({ key, value: { status } })) }),
    })
  })
  return {
    methods: [
      [`/${serviceName}/Check`, check],
      [`/${serviceName}/Watch`, watch],
      [`/${serviceName}/List`, list],
    ],
    drain() {
      status = servingStatus.notServing
      for (const call of watchers) call.write({ bytes: checkAnswer.encode({ status }) })
      watchers.clear()
    },
  }
}
