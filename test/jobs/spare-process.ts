/** A process that keeps some values in a server of Redis that it can do without, prints them, and ends by itself. */
import { spareRedis } from '../../src/core/redis.ts'

const spare = spareRedis(process.argv[2], 'the test')
for (const key of ['a', 'b', 'c', 'd', 'e']) {
  let kept: string | null | undefined
  // A machine that is busy has no connection in time.
  while (kept === undefined)
    kept = await spare(async (client) => {
      await client.set(key, `${key}!`)
      return client.get(key)
    })
  console.log(kept)
}
