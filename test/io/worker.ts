/** The routes as a Worker. */
import { fetchHandler } from 'serving/io'
import { webRoutes } from './web-routes.ts'

const handlers = new Map(
  webRoutes.map(({ path, options, fn }) => [path, fetchHandler(options, fn)]),
)

export default {
  async fetch(request: Request): Promise<Response> {
    const handler = handlers.get(new URL(request.url).pathname)
    return (await handler?.(request)) ?? new Response(null, { status: 404 })
  },
}
