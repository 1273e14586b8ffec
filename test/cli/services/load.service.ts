/** What `serving load` asks: an API with examples, one that fails each second time, and a live stream. */
import { io, Service, TooManyRequests } from 'serving'

const { CAPTURE_TO: to } = process.env
const svc = new Service('load', to === undefined ? {} : { capture: { rate: 1, to } })
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

svc.get('rows', { output: new io.Text() }, function rows(query) {
  return String(query.top)
})

const array = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 3] })
svc.api({ input: array, output: array }, function sums(value) {
  return value
})

svc.live('talk', text, async function* (inputs) {
  yield* inputs
})

export default svc
