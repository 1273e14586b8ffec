/** protobufjs's own message objects of our .proto, which tests and benchmarks hold our codec against. */
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs-8'

const root = protobuf.loadSync(
  fileURLToPath(new URL('../proto/serving/v1/serving.proto', import.meta.url)),
)

/** A message of the file: `encode(message).finish()`, `decode(bytes)`. */
export interface StockType {
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): object
}

const typeOf = (name: string): StockType => root.lookupType(name)

/** The messages by name. */
export const stock = {
  Request: typeOf('serving.v1.Request'),
  Response: typeOf('serving.v1.Response'),
  NDArray: typeOf('serving.v1.NDArray'),
  ServiceMetadataResponse: typeOf('serving.v1.ServiceMetadataResponse'),
  Value: typeOf('google.protobuf.Value'),
}
