import { io, Service } from 'serving'
import { apiKey } from 'serving/auth'

const keys = (process.env.API_KEYS ?? '').split(',')
const svc = new Service('ticker', { auth: apiKey({ keys, cookie: 'key' }) })
const text = { input: new io.Text(), output: new io.Text() }

// Pieces of one text: text/plain.
svc.api(text, async function* words(prompt) {
  yield* prompt.split(' ')
})

// Objects are server-sent events: text/event-stream.
svc.api(text, async function* tokens(prompt) {
  for (const data of prompt.split(' ')) yield { data, event: 'token' }
})

// Values: NDJSON, or events if the client prefers them.
svc.get('/ticks', { output: new io.JSON() }, async function* ticks() {
  yield { tick: 1 }
  yield { tick: 2 }
})

export default svc
