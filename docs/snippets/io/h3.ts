import { H3, serve } from 'h3'
import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const app = new H3()
const scale = fetchHandler({ input: rows, output: rows }, double)

app.post('/scale', (event) => scale(event.req))
serve(app, { port: Number(process.env.PORT) })
