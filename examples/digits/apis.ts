/**
 * The API of the digits classifier, to be added to a service.
 * @module
 */
import { io, NDArray, type Service } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { prepare, readDigit } from './digits.ts'

/**
 * The network in a thread of its own; requests that come together are answered as one batch. Belongs into the service's
 * `runners`.
 */
export const digits = onnxRunner('digits', new URL('./model.onnx', import.meta.url), {
  outputs: ['probabilities'],
  methods: { predict: { batchable: true, maxBatchSize: 64, maxWaitMs: 5 } },
})

/** Adds `classify_digit`. */
export function addDigitApis(svc: Service): void {
  svc.api(
    {
      input: new io.Image({ pilmode: 'L' }),
      output: new io.JSON(),
      doc: 'The digit in a picture of any size, dark on light or light on dark, and the probability of each.',
      examples: [
        {
          name: '7, blue on cream',
          input: new URL('./held-out/7-blue-on-cream-200x150-rgb-29.png', import.meta.url),
        },
        {
          name: '3, white on green',
          input: new URL('./held-out/3-white-on-green-64x64-rgb-14.png', import.meta.url),
        },
        {
          name: '9, noisy',
          input: new URL('./held-out/9-noisy-dark-on-grey-57x48-39.png', import.meta.url),
        },
      ],
    },
    async function classify_digit({ width, height, data }, ctx) {
      const cells = prepare(new NDArray(data, [height, width], 'uint8'))
      return readDigit((await digits.predict(cells, ctx)) as NDArray<'float32'>)
    },
  )
}
