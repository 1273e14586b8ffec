/** The routes on Bun or Deno, whichever runs this. Prints the port. */
import { fetchHandler } from 'serving/io'
import { routes } from './routes.ts'

/** What is used of the globals of both. */
interface Platforms {
  readonly Bun?: { serve(options: object): { readonly port: number } }
  readonly Deno?: {
    serve(options: object, handler: (request: Request) => Promise<Response>): unknown
  }
}

const { Bun, Deno } = globalThis as Platforms
const handlers = new Map(routes.map(({ path, options, fn }) => [path, fetchHandler(options, fn)]))
const answer = async (request: Request) =>
  (await handlers.get(new URL(request.url).pathname)?.(request)) ??
  new Response(null, { status: 404 })
const local = { port: 0, hostname: '127.0.0.1' }

if (Bun !== undefined) console.log(`port ${Bun.serve({ ...local, fetch: answer }).port}`)
else
  Deno?.serve(
    { ...local, onListen: ({ port }: { port: number }) => console.log(`port ${port}`) },
    answer,
  )
