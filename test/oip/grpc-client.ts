/** The models of `service.ts` over gRPC, and a client of them. */
import { Client, credentials } from '@grpc/grpc-js'
import { afterAll } from 'vitest'
import { start } from '../rpc/harness.ts'
import { modelService } from './service.ts'

/** Serves until the tests of a file, which calls this outside of them, are over. */
export async function modelClient(): Promise<Client> {
  const listener = await start(modelService())
  const client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure())
  afterAll(async () => {
    client.close()
    await listener.close()
  })
  return client
}

/** For messages that are bytes. */
export const asIs = (bytes: Buffer) => bytes
