/**
 * Types of functions behind JSON, with and without a schema. Compiled, never run.
 * @module
 */
import { io, NDArray, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('types')
const json = new io.JSON()
const Flower = z.strictObject({ name: z.string(), petals: z.number(), note: z.string().optional() })
const flower = new io.JSON({ schema: Flower })
// What the client sends is a string, what the function receives is a Date; and the other way round for its answer.
const When = z.object({
  at: z.string().transform((value) => new Date(value)),
  times: z.number().default(1),
})
const when = new io.JSON({ schema: When })

// Right: the schema's output comes in, the schema's input goes out.
svc.api({ input: flower, output: json, name: 'a' }, (value) => {
  const name: string = value.name
  const petals: number = value.petals
  const note: string | undefined = value.note
  return { name, petals, note }
})
svc.api({ input: when, output: json, name: 'b' }, (value) => {
  const at: Date = value.at
  const times: number = value.times
  return at.getTime() * times
})
svc.api({ input: json, output: when, name: 'c' }, () => ({ at: '2026-01-01' }))
svc.api({ input: json, output: when, name: 'd' }, async () => ({ at: '2026-01-01', times: 2 }))
svc.api({ input: json, output: flower, name: 'e' }, () => ({ name: 'setosa', petals: 5 }))
svc.api({ input: flower, output: flower, name: 'f' }, (value) => value)
svc.api({ input: flower, output: flower, name: 'g' }, ({ name, ...rest }) => ({
  ...rest,
  name: name.trim(),
}))

svc.api({ input: json, output: flower, name: 'ee' }, async function* () {
  yield { name: 'setosa', petals: 5 }
})
// @ts-expect-error TS2345: pieces, too, are of the schema
svc.api({ input: json, output: flower, name: 'ef' }, async function* () {
  yield { name: 'setosa', petals: 'five' }
})

// Right: without a schema a JSON value comes in, and anything goes out.
svc.api({ input: json, output: json, name: 'h' }, (value) => {
  const seen: io.JsonValue = value
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.length
  return seen
})
svc.api({ input: json, output: json, name: 'i' }, () => new NDArray([]))
svc.api({ input: json, output: json, name: 'j' }, () => {})
svc.api({ input: json, output: json, name: 'k' }, async () => new Map([['at', new Date()]]))
svc.api({ input: json, output: json, name: 'l' }, (value: unknown) => value)
svc.api(
  {
    input: io.JSON.fromSample({ name: 'setosa', petals: 5 }, { schema: Flower }),
    output: json,
    name: 'm',
  },
  (value) => value.name.trim(),
)
class Encoder extends io.JSONEncoder {}
new io.JSON({ schema: Flower, jsonEncoder: Encoder, validateJson: true })

// Wrong: what the function returns.
// @ts-expect-error TS2322: a property is missing
svc.api({ input: json, output: flower, name: 'n' }, () => ({ name: 'setosa' }))
// @ts-expect-error TS2322: a property is of another type
svc.api({ input: json, output: flower, name: 'o' }, () => ({ name: 'setosa', petals: 'five' }))
// @ts-expect-error TS2322: also when it comes later
svc.api({ input: json, output: flower, name: 'p' }, async () => ({
  name: 'setosa',
  petals: 'five',
}))
// @ts-expect-error TS2322: the schema takes a string and makes a Date of it
svc.api({ input: json, output: when, name: 'q' }, () => ({ at: new Date() }))
// @ts-expect-error TS2322: what a schema with a transform gives is not what it takes
svc.api({ input: when, output: when, name: 'r' }, (value) => value)
// @ts-expect-error TS2345: nothing is no flower
svc.api({ input: json, output: flower, name: 's' }, () => {})

// Wrong: what the function takes its input for.
// @ts-expect-error TS2339: the schema has no such property
svc.api({ input: flower, output: json, name: 't' }, (value) => value.colour)
// @ts-expect-error TS2339: a Date it is, no string
svc.api({ input: when, output: json, name: 'u' }, (value) => value.at.toUpperCase())
// @ts-expect-error TS2345: a property is of another type
svc.api({ input: flower, output: json, name: 'v' }, (value: { petals: string }) => value)
// @ts-expect-error TS2345: without a schema nobody knows that it is an object
svc.api({ input: json, output: json, name: 'w' }, (value: { name: string }) => value)
// @ts-expect-error TS18048: an optional property may be absent
svc.api({ input: flower, output: json, name: 'x' }, (value) => value.note.trim())

// Wrong: options.
// @ts-expect-error TS2353: an option of the spec's name
new io.JSON({ pydanticModel: Flower })
// @ts-expect-error TS2353: a plain object is no schema
new io.JSON({ schema: { name: 'string' } })
// @ts-expect-error TS2322: an encoder is given as a class
new io.JSON({ jsonEncoder: new Encoder() })
