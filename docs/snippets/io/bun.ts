import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

declare const Bun: { serve(options: object): void }
const scale = fetchHandler({ input: rows, output: rows }, double)

Bun.serve({
  port: Number(process.env.PORT),
  routes: { '/scale': { POST: (request: Request) => scale(request) } },
})
