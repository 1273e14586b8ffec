/** The Open Inference Protocol, over HTTP and gRPC. @module */

import type { Host } from '../../api/protocol.ts'
import { oipEndpoints } from './endpoints.ts'
import { grpcMethods } from './grpc-methods.ts'
import { ModelGroup } from './model-group.ts'
import { Models } from './models.ts'

/** Serves APIs of tensors, and the Runners that a service lists as models. */
export function attachOip(host: Host, source: ConstructorParameters<typeof Models>[0]): void {
  const models = new Models(source)
  const server = { host, models, group: new ModelGroup(models, host) }
  for (const endpoint of oipEndpoints(server)) host.http(endpoint)
  for (const method of grpcMethods(server)) host.rpc(method)
}
