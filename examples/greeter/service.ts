import { fileURLToPath } from 'node:url'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { io, Service } from 'serving'
import { z } from 'zod'
import { grpcService } from './grpc-service.ts'

const file = fileURLToPath(new URL('greeter.proto', import.meta.url))
const greeter = loadSync(file, { defaults: true })['greeter.Greeter'] as ServiceDefinition
const person = z.object({ name: z.string(), titles: z.array(z.string()).default([]) })

const svc = new Service('greeter', { protocols: [grpcService(greeter)] })

svc.api({ input: new io.JSON({ schema: person }), output: new io.JSON() }, function SayHello(of) {
  return { text: `Hello, ${[...of.titles, of.name].join(' ')}!` }
})

export default svc
