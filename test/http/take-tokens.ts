/** A process that takes tokens: `URL RATE BURST COUNT`. Prints how many it got. */
import { sharedBuckets } from '../../src/api/auth/shared-buckets.ts'

const [url, rate, burst, count] = process.argv.slice(2)
const take = sharedBuckets(url, 'test', Number(rate), Number(burst))
const shares = await Promise.all(Array.from({ length: Number(count) }, () => take('ann')))
process.stdout.write(String(shares.filter((share) => share?.isAllowed).length))
