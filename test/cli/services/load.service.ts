/** What `serving load` asks: an API with examples, one that fails each second time, and a live stream. */
import { io, Service, TooManyRequests } from 'serving'

const svc = new Service('load')
const text = { input: new io.Text(), output: new io.Text() }

svc.api(
  {
    ...text,
    examples: [
      { name: 'one', input: 'one' },
      { name: 'two', input: 'two' },
    ],
  },
  function echo(value: string) {
    return value
  },
)

let calls = 0
svc.api(text, function half(value: string) {
  calls++
  if (calls % 2 === 0) throw new TooManyRequests('each second call')
  return value
})

svc.live('talk', text, async function* (inputs) {
  yield* inputs
})

export default svc
