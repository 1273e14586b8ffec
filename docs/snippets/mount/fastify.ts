import { fastify } from 'fastify'
import { io, Service } from 'serving'

const app = fastify()
app.get('/old/hello', () => ({ hello: 'world' }))

const svc = new Service('host')
svc.get('/new', { output: new io.JSON() }, () => ({ hello: 'new world' }))

svc.mount('/old', async (request) => {
  const { pathname, search } = new URL(request.url)
  const answer = await app.inject({
    method: request.method as 'GET',
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
    payload: Buffer.from(await request.arrayBuffer()),
  })
  const lines = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as [string, string]),
  )
  const body = answer.rawPayload.length > 0 ? Uint8Array.from(answer.rawPayload) : null
  return new Response(body, { status: answer.statusCode, headers: lines })
})

export default svc
