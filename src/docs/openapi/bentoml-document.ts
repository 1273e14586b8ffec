import type { Api } from '../../api/api.ts'
import { type BentomlSpec, bentomlName, bentomlSpec } from '../../api/bentoml-metadata.ts'
import { type DocumentSource, type OpenApiDocument, openApiDocument } from './document.ts'
import type { DescribedEndpoint } from './protocol-paths.ts'

const specMember = 'x-bentoml-io-descriptor'

interface Operation {
  readonly requestBody: object
  readonly responses: Readonly<Record<string, object>>
}

/**
 * Custom descriptors are left out: one would break the client.
 *
 * @returns the document for BentoML's clients.
 */
export function bentomlDocument(
  service: DocumentSource,
  prefix: string,
  others: readonly DescribedEndpoint[] = [],
): OpenApiDocument {
  const document = openApiDocument(service, prefix, others)
  const paths: Record<string, Readonly<Record<string, unknown>>> = { ...document.paths }
  for (const api of service.apis.values()) {
    const [input, output] = [bentomlSpec(api.input), bentomlSpec(api.output)]
    if (input === undefined || output === undefined) continue
    const path = `/${api.route}`
    paths[path] = {
      ...paths[path],
      post: operationFor(api, paths[path].post as Operation, input, output),
    }
  }
  return { ...document, info: { ...document.info, title: bentomlName(service.name) }, paths }
}

function operationFor(
  api: Api,
  operation: Operation,
  input: BentomlSpec,
  output: BentomlSpec,
): object {
  const { requestBody, responses } = operation
  return {
    ...operation,
    tags: ['Service APIs'],
    'x-bentoml-name': api.name,
    summary: `InferenceAPI(${titleOf(input)} → ${titleOf(output)})`,
    description: api.doc ?? '',
    requestBody: { ...requestBody, [specMember]: input },
    responses: { ...responses, 200: { ...responses[200], [specMember]: output } },
  }
}

function titleOf({ id }: BentomlSpec): string {
  return id.slice(id.lastIndexOf('.') + 1)
}
