/** Tasks for BentoML's client: `bentoml_tasks.py` calls them. */
import { io, Service } from 'serving'

const svc = new Service('tasks')
const json = { input: new io.JSON(), output: new io.JSON() }
svc.api({ ...json, name: 'double', async: true }, (values) =>
  (values as number[]).map((value) => 2 * value),
)
svc.api({ input: new io.Text(), output: new io.Text(), name: 'shout', async: true }, (text) =>
  text.toUpperCase(),
)
const array = new io.NumpyNdarray({ dtype: 'float64' })
svc.api({ input: array, output: array, name: 'same', async: true }, (value) => value)
svc.api(
  { ...json, name: 'hold', async: true },
  (_, ctx) =>
    new Promise((_, reject) =>
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
    ),
)

export default svc
