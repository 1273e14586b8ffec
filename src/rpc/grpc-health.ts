/**
 * gRPC's own service of health.
 *
 * **Source**: grpc/health/v1/health.proto; gRPC core, health-checking.md.
 * @module
 */

import { ProtoWriter, wireType } from '../messages/protobuf.ts'
import { grpcStatusNumbers } from '../messages/rpc-error.ts'
import { readTexts } from '../oip/grpc-request.ts'
import { answerPlainly, type GrpcMethod, type GrpcStream } from './grpc-stream.ts'

const serviceName = 'grpc.health.v1.Health'
// HealthCheckResponse.ServingStatus.
const servingStatus = Object.freeze({ serving: 1, notServing: 2, unknownService: 3 })
const maxBytes = 4096

/** The health of the services of a server, all of which serve or do not. */
export class GrpcHealth {
  readonly #names: ReadonlySet<string>
  readonly #watchers = new Set<GrpcStream>()
  #status: number = servingStatus.serving

  /** `names`: of the services; the empty one is the whole server. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  /** Says from now on that the services do not serve. */
  drain(): void {
    this.#status = servingStatus.notServing
    const bytes = encodeStatus(this.#status)
    for (const call of this.#watchers) call.write({ bytes })
    this.#watchers.clear()
  }

  /** Returns the methods by path. */
  methods(): readonly (readonly [string, GrpcMethod])[] {
    const check = answerPlainly(maxBytes, (call, message) => {
      const [name] = readTexts(message, [1])
      if (this.#names.has(name)) call.end({ bytes: encodeStatus(this.#status) })
      else {
        const details = `expected the name of a service, received ${name.slice(0, 200)}`
        call.refuse({ code: grpcStatusNumbers.NOT_FOUND, details })
      }
    })
    const watch = answerPlainly(maxBytes, (call, message) => {
      const isKnown = this.#names.has(readTexts(message, [1])[0])
      call.write({ bytes: encodeStatus(isKnown ? this.#status : servingStatus.unknownService) })
      if (!isKnown || this.#status !== servingStatus.serving) return
      this.#watchers.add(call)
      call.stream.once('close', () => this.#watchers.delete(call))
    })
    const list = answerPlainly(maxBytes, (call) => {
      const writer = new ProtoWriter(256)
      for (const name of this.#names) {
        writer.message(1, () => {
          writer.text(1, name)
          writer.message(2, () => writer.tag(1, wireType.varint).int32(this.#status))
        })
      }
      call.end({ bytes: writer.finish() })
    })
    return [
      [`/${serviceName}/Check`, check],
      [`/${serviceName}/Watch`, watch],
      [`/${serviceName}/List`, list],
    ]
  }
}

function encodeStatus(status: number): Uint8Array {
  return new ProtoWriter(2).tag(1, wireType.varint).int32(status).finish()
}
