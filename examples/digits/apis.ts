/**
 * The API of the digits classifier, to be added to a service.
 * @module
 */
import { io, NDArray, type Service } from 'serving'
import { load } from 'serving/onnx'
import { prepare, readDigit } from './digits.ts'

const path = new URL('./model.onnx', import.meta.url)
const { predict } = await load({ path, outputs: ['probabilities'] })

/** Adds `classify_digit`. */
export function addDigitApis(svc: Service): void {
  svc.api(
    {
      input: new io.Image({ pilmode: 'L' }),
      output: new io.JSON(),
      doc: 'A picture of one handwritten digit, of any size, dark on light or light on dark, becomes the digit and the probability of each.',
    },
    async function classify_digit({ width, height, data }) {
      const cells = prepare(new NDArray(data, [height, width], 'uint8'))
      return readDigit((await predict(cells)) as NDArray<'float32'>)
    },
  )
}
