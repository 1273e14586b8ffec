import { describe } from 'vitest'
import { survives } from './kill-conformance.ts'
import { hasRedis, redisServer } from './redis-server.ts'

describe.skipIf(!hasRedis)('a job store on Redis', () => {
  survives('among processes', async () => {
    const server = await redisServer()
    return { spec: { kind: 'redis', url: server.url }, stop: () => server.stop() }
  })
})
