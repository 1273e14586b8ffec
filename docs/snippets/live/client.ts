import { createClient } from 'serving/client'
import { WebSocket } from 'ws'
import type * as service from './upper.ts'

const client = createClient<typeof service>('http://localhost:3000', { WebSocket })
const live = client.upper.open()
await live.send('hello')
await live.send('you')
live.end()
for await (const text of live) console.log(text) // HELLO, then YOU
