/**
 * Types of functions behind Image. Compiled, never run.
 * @module
 */
import { io, type NDArray, RasterImage, Service } from 'serving'

const svc = new Service('types')
const image = new io.Image()

// Right: a raster or an array, now or later.
svc.api({ input: image, output: image }, function a(value) {
  const raster: RasterImage = value
  const array: NDArray<'uint8' | 'uint16' | 'int32' | 'float32'> = raster.toNDArray()
  return array
})
svc.api({ input: image, output: image }, async function b(value) {
  return new RasterImage(value.mode, value.width, value.height, value.data)
})
svc.api({ input: image, output: new io.NumpyNdarray() }, function c(value) {
  return value.toNDArray()
})
svc.api(
  {
    input: new io.NumpyNdarray({ dtype: 'uint8' }),
    output: new io.Image({ mimeType: 'image/png' }),
  },
  function d(value) {
    return RasterImage.fromNDArray(value, 'L')
  },
)

// A tensor instead of a raster, float32 unless asked otherwise.
const tensor = new io.Image({ tensor: { size: [224, 224], mean: [0.5, 0.5, 0.5] } })
svc.api({ input: tensor, output: image, name: 'g' }, async function g(value) {
  const floats: NDArray<'float32'> = value
  const picture = new RasterImage('L', 1, 1, new Uint8Array(1))
  const bytes: NDArray<'uint8'> = await picture.toTensor({ size: [1, 1], dtype: 'uint8' })
  return floats.size > 0 ? bytes : (await picture.resize(2, 2)).crop(0, 0, 1, 1)
})
svc.api(
  { input: new io.Image({ tensor: { size: [8, 8], dtype: 'uint8' } }), output: image, name: 'h' },
  (value) => {
    const bytes: NDArray<'uint8'> = value
    return bytes
  },
)
const sample = io.Image.fromSample('a.png', { tensor: { size: [8, 8] } })
svc.api({ input: sample, output: image, name: 'i' }, (value: NDArray<'float32'>) => value)

// Wrong: what the function returns, and what the options say.
// @ts-expect-error TS2322: bytes are no picture
svc.api({ input: image, output: image, name: 'e' }, (value) => value.data)
// @ts-expect-error TS2322: nor is nothing
svc.api({ input: image, output: image, name: 'f' }, () => undefined)
// @ts-expect-error TS2820: a mode that there is not; modes are in capitals
new io.Image({ pilmode: 'p' })
// @ts-expect-error TS2345: a tensor of floats is none of bytes
svc.api({ input: tensor, output: image, name: 'j' }, (value: NDArray<'uint8'>) => value)
// @ts-expect-error TS2322: one side
new io.Image({ tensor: { size: [8] } })
// @ts-expect-error TS2561: a misspelled option
new io.Image({ mime_type: 'image/png' })
