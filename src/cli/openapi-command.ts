/**
 * `serving openapi`.
 * @module
 */
import { valuesOf } from '../config/settled-options.ts'
import { openApiDocument } from '../openapi/document.ts'
import { parseBaseUrl } from '../server/router.ts'
import { loadService } from './load-service.ts'
import type { Settings } from './settings.ts'

/** Returns the OpenAPI document of a service file as text. Nothing of the service is started. */
export async function openapiText(service: string, { options }: Settings): Promise<string> {
  const { baseUrl = '/' } = valuesOf(options)
  return JSON.stringify(openApiDocument(await loadService(service), parseBaseUrl(baseUrl)), undefined, 2)
}
