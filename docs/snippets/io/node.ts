import { createServer } from 'node:http'
import { nodeHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const scale = nodeHandler({ input: rows, output: rows }, double)

createServer((request, response) => {
  if (request.url === '/scale') scale(request, response)
  else response.writeHead(404).end()
}).listen(Number(process.env.PORT))
