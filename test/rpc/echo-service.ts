/** A service of every descriptor, for the tests of RPC. */
import { io, NDArray, Service } from 'serving'

/** Returns every descriptor, as an echo of its name. */
export function echoService(): Service {
  const svc = new Service('echo', { doc: 'Echoes.' })
  const same = <T>(value: T) => value
  svc.api(
    {
      name: 'ndarray',
      input: new io.NumpyNdarray(),
      output: new io.NumpyNdarray(),
      doc: 'An array.',
    },
    same,
  )
  svc.api(
    {
      name: 'floats',
      input: new io.NumpyNdarray({ dtype: 'float32' }),
      output: new io.NumpyNdarray(),
    },
    same,
  )
  svc.api(
    {
      name: 'pairs',
      input: new io.NumpyNdarray({
        dtype: 'int32',
        enforceDtype: true,
        shape: [-1, 2],
        enforceShape: true,
      }),
      output: new io.NumpyNdarray(),
    },
    same,
  )
  svc.api({ name: 'json', input: new io.JSON(), output: new io.JSON() }, same)
  svc.api({ name: 'text', input: new io.Text(), output: new io.Text() }, same)
  svc.api({ name: 'file', input: new io.File(), output: new io.File() }, same)
  svc.api(
    { name: 'pdf', input: new io.File({ mimeType: 'application/pdf' }), output: new io.File() },
    same,
  )
  svc.api(
    { name: 'image', input: new io.Image(), output: new io.Image({ mimeType: 'image/png' }) },
    same,
  )
  svc.api(
    { name: 'frame', input: new io.PandasDataFrame(), output: new io.PandasDataFrame() },
    same,
  )
  svc.api({ name: 'series', input: new io.PandasSeries(), output: new io.PandasSeries() }, same)
  const form = () =>
    new io.Multipart({ a: new io.Text(), j: new io.JSON(), n: new io.NumpyNdarray() })
  svc.api({ name: 'form', input: form(), output: form() }, (parts) => parts)
  svc.api({ name: 'form_async', input: form(), output: form() }, async (parts) => parts)
  svc.api(
    { name: 'words', input: new io.Text(), output: new io.Text() },
    async function* (text: string) {
      yield* text.split(' ')
    },
  )
  svc.api({ name: 'count', input: new io.JSON(), output: new io.JSON() }, async function* (n) {
    for (let i = 1; i <= Number(n); i++) yield { i }
  })
  svc.api(
    { name: 'zeros', input: new io.JSON(), output: new io.NumpyNdarray() },
    () => new NDArray(new Int8Array(3)),
  )
  svc.api({ name: 'worker', input: new io.JSON(), output: new io.JSON() }, () => process.pid)
  return svc
}
