/**
 * A service as it runs in production: keys, limits, hooks, pages of other origins, metrics.
 *
 * ```sh
 * npx serving serve examples/production/service.ts
 * curl -H 'x-api-key: demo' -H 'content-type: application/json' -d '[[1, 2], [3, 4]]' localhost:3000/mean
 * curl -H 'x-api-key: demo' 'localhost:3000/labels?top=2'
 * curl localhost:3000/metrics
 * ```
 * @module
 */
import { Forbidden, io, NDArray, Service } from 'serving'
import { apiKey, rateLimit } from 'serving/auth'
import { z } from 'zod'

declare module 'serving' {
  interface ContextState {
    /** Set by the first hook. */
    team?: string
  }
}

// `printf %s demo | sha256sum`; give your own in the environment, as name=hash,name=hash.
const demo = 'demo=2a97516c354b68848cdbd8f54a226a0a55b21ed138e207ad6c5cbb9c00aa5aea'
const keys = (process.env.API_KEYS ?? demo).split(',').map((entry) => {
  const [name, hash] = entry.split('=')
  return { name, hash }
})

const svc = new Service('production', {
  auth: apiKey({ keys }),
  publicPaths: ['/metrics', '/openapi.json'],
  cors: { origin: ['http://localhost:5173'], maxAge: 3600 },
})

svc.onRequest((ctx) => {
  const team = ctx.headers.get('x-team') ?? 'none'
  if (team === 'blocked') throw new Forbidden('expected another team')
  ctx.state.team = team
})
svc.onRequest(rateLimit({ rate: 100, burst: 200 }))
svc.onError((ctx, error) => {
  ctx.response.setHeader('x-failed', ctx.api ?? 'unknown')
  if (process.env.LOG_ERRORS !== undefined) console.error(ctx.id, ctx.path, error.message)
})

/** Rows that were averaged, by caller and team. */
export const usage = new Map<string, number>()
svc.onResponse((ctx, outcome) => {
  if (outcome.status !== 200 || ctx.api !== 'mean') return
  const who = `${ctx.state.caller?.name} of ${ctx.state.team}`
  usage.set(who, (usage.get(who) ?? 0) + outcome.bytesIn)
})

const rows = new io.NumpyNdarray({ dtype: 'float64', shape: [-1, -1], enforceShape: true })
svc.api({ input: rows, output: new io.NumpyNdarray(), maxInFlight: 64 }, function mean(rows) {
  const [count, width] = rows.shape
  const sums = new Float64Array(width)
  for (let i = 0; i < rows.data.length; i++) sums[i % width] += Number(rows.data[i]) / count
  return new NDArray(sums, [width])
})

const query = z.object({ top: z.coerce.number().int().min(1).max(3).default(3) })
svc.get('/labels', { query, output: new io.JSON() }, function labels({ top }) {
  return ['setosa', 'versicolor', 'virginica'].slice(0, top)
})

svc.mount('/about', (request, ctx) =>
  Response.json({ url: request.url, caller: ctx.state.caller?.name ?? null }),
)

export default svc
