import express from 'express'
import { nodeHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const app = express()
app.post('/scale', nodeHandler({ input: rows, output: rows }, double))
app.use(express.json()) // Below: it would read the body of /scale.
app.listen(Number(process.env.PORT))
