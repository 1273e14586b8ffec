import process from 'node:process'
import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

declare const Deno: {
  serve(options: object, handler: (request: Request) => Promise<Response>): void
}
const scale = fetchHandler({ input: rows, output: rows }, double)

Deno.serve({ port: Number(process.env.PORT) }, (request) => scale(request))
