import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const app = new Hono()
const scale = fetchHandler({ input: rows, output: rows }, double)

app.post('/scale', (c) => scale(c.req.raw))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
