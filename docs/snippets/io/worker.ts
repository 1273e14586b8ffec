import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const scale = fetchHandler({ input: rows, output: rows }, double)

export default { fetch: (request: Request) => scale(request) }
