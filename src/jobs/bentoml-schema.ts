/**
 * Describes asynchronous APIs to the clients of BentoML 1.4.
 *
 * @see _bentoml_impl/client/http.py.
 * @module
 */
import { bentomlSpec } from '../api/bentoml-metadata.ts'
import { type Endpoint, getPage } from '../api/endpoint.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { jsonAnswer } from './job-answers.ts'
import type { AsyncApi } from './new-job.ts'

type Schema = Readonly<Record<string, unknown>>

/** How BentoML's clients encode and decode a value, by kind of descriptor; they cannot call APIs of other kinds. */
const schemas: Readonly<Record<string, (args: Schema) => Schema>> = {
  JSON: () => ({}),
  Text: () => ({ type: 'string' }),
  NumpyNdarray: ({ dtype }) => ({
    type: 'tensor',
    format: 'numpy-array',
    ...(dtype !== null && { dtype }),
  }),
  PandasDataFrame: ({ orient }) => ({ type: 'dataframe', orient: orient ?? 'records' }),
  File: () => ({ type: 'file', format: 'binary' }),
  Image: () => ({ type: 'file', format: 'image', pil: true }),
}

/** @returns the endpoint `/schema.json`, which tells of APIs with their paths. */
export function schemaEndpoint(name: string, apis: ReadonlyMap<string, AsyncApi>): Endpoint {
  const routes = [...apis].flatMap(([path, api]) => {
    const [input, output] = [schemaOf(api.input), schemaOf(api.output)]
    if (input === undefined || output === undefined) return []
    return [
      { name: api.name, route: path, input: { ...input, root_input: true }, output, is_task: true },
    ]
  })
  return getPage('/schema.json', { kind: 'service' }, [], () =>
    jsonAnswer({ name, type: 'service', routes }),
  )
}

function schemaOf(descriptor: IODescriptor): Schema | undefined {
  const { id, args = {} } = bentomlSpec(descriptor) ?? {}
  const kind = id?.slice('bentoml.io.'.length)
  return kind === undefined || !Object.hasOwn(schemas, kind) ? undefined : schemas[kind](args)
}
