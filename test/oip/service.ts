/** A service with a model of each kind. */
import { io, NDArray, Service } from 'serving'

/** Makes it anew, with statistics of its own. */
export function modelService(): Service {
  const svc = new Service('models')
  addModelApis(svc)
  return svc
}

/** Adds its APIs to another service. */
export function addModelApis(svc: Service): void {
  const matrix = () => new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })
  svc.api({ input: matrix(), output: matrix() }, function double(x) {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  })
  svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function echo(x) {
    return x
  })
  svc.api(
    { input: new io.NumpyNdarray({ dtype: 'int64' }), output: new io.NumpyNdarray() },
    function wide(x) {
      return x
    },
  )
  svc.api(
    { input: new io.NumpyNdarray({ dtype: 'str' }), output: new io.NumpyNdarray() },
    function words(x) {
      return new NDArray(
        x.data.map((word) => `${word}!`),
        x.shape,
      )
    },
  )
  svc.api({ input: new io.Text(), output: new io.Text() }, async function* spell(text, ctx) {
    const { times = 1 } = ctx.parameters
    for (let i = 0; i < Number(times); i++) for (const letter of text) yield letter
    if (text === 'boom') throw new Error('secret')
  })
  svc.api({ input: new io.JSON(), output: new io.JSON() }, function json(value) {
    return { value }
  })
  svc.api(
    {
      input: new io.Multipart({
        a: new io.NumpyNdarray({ dtype: 'int64' }),
        b: io.optional(new io.Text()),
      }),
      output: new io.Multipart({ sum: new io.NumpyNdarray(), text: new io.Text() }),
    },
    function form({ a, b }) {
      const sum = a.data.reduce((total, value) => total + value, 0n)
      return { sum: new NDArray(BigInt64Array.of(sum), [1]), text: b ?? 'none' }
    },
  )
  svc.api(
    {
      input: new io.PandasDataFrame({
        columns: ['name', 'age'],
        dtype: { name: 'str', age: 'int64' },
      }),
      output: new io.PandasDataFrame(),
    },
    function frame(df) {
      return df
    },
  )
  svc.api(
    { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
    function broken(): NDArray {
      throw new Error('secret')
    },
  )
  svc.api({ input: new io.Image(), output: new io.JSON() }, function picture() {
    return 'not a model'
  })
}
