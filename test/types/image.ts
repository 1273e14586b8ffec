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
  const array: NDArray<'uint8' | 'int32' | 'float32'> = raster.toNDArray()
  return array
})
svc.api({ input: image, output: image }, async function b(value) {
  return new RasterImage(value.mode, value.width, value.height, value.data)
})
svc.api({ input: image, output: new io.NumpyNdarray() }, function c(value) {
  return value.toNDArray()
})
svc.api(
  { input: new io.NumpyNdarray({ dtype: 'uint8' }), output: new io.Image({ mimeType: 'image/png' }) },
  function d(value) {
    return RasterImage.fromNDArray(value, 'L')
  },
)

// Wrong: what the function returns, and what the options say.
// @ts-expect-error TS2322: bytes are no picture
svc.api({ input: image, output: image, name: 'e' }, (value) => value.data)
// @ts-expect-error TS2322: nor is nothing
svc.api({ input: image, output: image, name: 'f' }, () => undefined)
// @ts-expect-error TS2322: a mode that there is not
new io.Image({ pilmode: 'P' })
// @ts-expect-error TS2561: a misspelled option
new io.Image({ mime_type: 'image/png' })
