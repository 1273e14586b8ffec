/** The models of `service.ts` over gRPC while a file of tests runs, and a client of them. */
import { Client, credentials } from '@grpc/grpc-js'
import { afterAll } from 'vitest'
import { start } from '../rpc/harness.ts'
import { modelService } from './service.ts'

const listener = await start(modelService())
export const client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure())
afterAll(async () => {
  client.close()
  await listener.close()
})

/** For messages that are bytes. */
export const asIs = (bytes: Buffer) => bytes
