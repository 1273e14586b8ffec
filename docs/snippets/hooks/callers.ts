import { io, Service } from 'serving'
import { apiKey, rateLimit } from 'serving/auth'

declare module 'serving' {
  interface ContextState {
    team?: string
  }
}

const svc = new Service('iris', {
  auth: apiKey({ keys: (process.env.API_KEYS ?? '').split(',') }),
  publicPaths: ['/metrics', '/openapi.json'],
  cors: { origin: ['https://app.example.org'] },
})

svc.onRequest((ctx) => {
  ctx.state.team = ctx.headers.get('x-team') ?? 'unknown'
})
svc.onRequest(rateLimit({ rate: 10, burst: 50 }))
svc.onError((ctx, error) =>
  ctx.response.setHeader('x-help', `https://example.org/errors/${error.name}`),
)
svc.onResponse((ctx, { status, bytesIn, durations }) => {
  console.log(ctx.api, ctx.state.team, status, bytesIn, durations.totalMs)
})

svc.get('/labels', { output: new io.JSON() }, () => ['setosa', 'versicolor', 'virginica'])
svc.mount('/app', (request) => new Response(`hello from ${new URL(request.url).pathname}`))

export default svc
