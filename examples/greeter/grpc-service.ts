import type { MethodDefinition } from '@grpc/proto-loader'
import { BadInput, type BytesAnswer, type Protocol } from 'serving'

type Definition = Readonly<Record<string, MethodDefinition<object, object>>>

/** The unary methods of a service in a .proto file: each calls the API of its name. */
export function grpcService(definition: Definition): Protocol {
  return {
    name: 'grpcService',
    attach(host) {
      for (const { path, requestDeserialize, responseSerialize } of Object.values(definition)) {
        const name = path.slice(path.lastIndexOf('/') + 1)
        const api = host.service.apis.get(name)
        if (api === undefined) throw new Error(`expected an API ${name} for ${path}`)
        const read = (message: Uint8Array) => {
          try {
            return requestDeserialize(message as Buffer)
          } catch (cause) {
            throw new BadInput(`expected a message of ${path}`, { cause })
          }
        }
        host.rpc({
          kind: 'unary',
          path,
          access: { kind: 'api', api: name },
          answer(message, visit) {
            const decode = () => {
              // An empty message within another one has two bytes, and some hundred in memory.
              visit.hold(50 * message.length)
              return read(message)
            }
            return visit.call<BytesAnswer>(api, decode, {
              encode: (_, result) => ({ bytes: responseSerialize(result as object) }),
              fail: (error) => ({ error }),
            })
          },
        })
      }
    },
  }
}
