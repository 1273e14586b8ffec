/**
 * The APIs of the Iris classifier, to be added to a service.
 * @module
 */
import { BadInput, io, NDArray, NotFound, type Service } from 'serving'
import { z } from 'zod'
import { model, predict, probabilities } from './model.ts'

// Beyond 1 m it is no flower, and far beyond it no float32.
const cm = z.number().positive().max(100)
const Flower = z.strictObject({
  sepal_length: cm,
  sepal_width: cm,
  petal_length: cm,
  petal_width: cm,
})

const looks = new Map([
  [
    'setosa',
    'It has broad sepals and the smallest petals of the three, and is told apart from the other two with ease.',
  ],
  [
    'versicolor',
    'Its flowers lie between the other two in size, which makes the larger ones easy to take for virginica.',
  ],
  [
    'virginica',
    'It has the largest petals of the three; smaller flowers are easy to take for versicolor.',
  ],
])

/** Adds `classify`, `classify_flower` and `describe`. */
export function addIrisApis(svc: Service): void {
  svc.api(
    {
      input: new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4], enforceShape: true }),
      output: new io.NumpyNdarray({ dtype: 'str', shape: [-1] }),
      doc: "A batch of rows [sepal length, sepal width, petal length, petal width] in cm becomes the species' names.",
      examples: [
        {
          name: 'Two flowers',
          input: [
            [5.1, 3.5, 1.4, 0.2],
            [6.7, 3.1, 5.6, 2.4],
          ],
        },
        {
          name: 'One of each',
          input: [
            [5.0, 3.4, 1.5, 0.2],
            [5.9, 2.8, 4.3, 1.3],
            [6.6, 3.0, 5.6, 2.0],
          ],
        },
      ],
    },
    function classify(flowers) {
      const bad = flowers.data.findIndex((cm) => !Number.isFinite(cm))
      if (bad !== -1) {
        const path = `[${Math.floor(bad / 4)}][${bad % 4}]`
        throw new BadInput(`expected a finite number for ${path}, received none`, {
          reason: 'dtype',
          path,
        })
      }
      return predict(flowers)
    },
  )

  svc.api(
    {
      input: new io.JSON({ schema: Flower }),
      output: new io.JSON(),
      doc: 'One flower by named measurements in cm becomes its species and the probability of each.',
      examples: [
        {
          name: 'Setosa',
          input: { sepal_length: 5.1, sepal_width: 3.5, petal_length: 1.4, petal_width: 0.2 },
        },
        {
          name: 'Between two',
          input: { sepal_length: 6.0, sepal_width: 2.7, petal_length: 5.0, petal_width: 1.6 },
        },
      ],
    },
    function classify_flower({ sepal_length, sepal_width, petal_length, petal_width }) {
      const flower = new NDArray(
        Float32Array.of(sepal_length, sepal_width, petal_length, petal_width),
        [1, 4],
        'float32',
      )
      const odds = probabilities(flower).data
      return {
        species: predict(flower).data[0],
        probabilities: Object.fromEntries(model.species.map((name, i) => [name, odds[i]])),
      }
    },
  )

  svc.api(
    {
      input: new io.Text(),
      output: new io.Text(),
      doc: 'The name of a species becomes a few sentences about it, sent one by one.',
      examples: model.species.map((name) => ({ name, input: name })),
    },
    async function* describe(text) {
      const name = text.trim().toLowerCase()
      const look = looks.get(name)
      if (look === undefined)
        throw new NotFound(`expected one of ${model.species.join(', ')}, received another species`)
      const average = model.averages_cm[name]
      yield `Iris ${name} is one of ${model.species.length} species that this model tells apart. `
      yield `${look} `
      yield `An average sepal is ${average.sepal_length} cm long and ${average.sepal_width} cm wide. `
      yield `An average petal is ${average.petal_length} cm long and ${average.petal_width} cm wide.\n`
    },
  )
}
