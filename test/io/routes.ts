/** Functions that the tests ask where Node is, or Bun or Deno. It imports nothing of Node. */
import { io } from 'serving/io'
import { common, json, type Route, route, rows, text, webRoutes } from './web-routes.ts'

const frame = new io.PandasDataFrame()

/** All functions. */
export const routes: readonly Route[] = [
  ...webRoutes,
  route('/frame', { input: frame, output: frame, ...common }, (given) => given),
  route(
    '/form',
    { input: new io.Multipart({ x: rows, name: text }), output: json, ...common },
    ({ x, name }) => ({
      sum: x.data.reduce((sum, value) => sum + value, 0),
      name,
    }),
  ),
  route('/file', { input: new io.File(), output: json, ...common }, async (file) => {
    let bytes = 0
    for await (const piece of file.stream()) bytes += piece.length
    return { bytes, name: file.name ?? null }
  }),
]
