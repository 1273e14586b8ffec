/** `serving openapi`. @module */

import { parseBaseUrl } from '../engine/router.ts'
import { describeServer } from '../server/describe-server.ts'
import { loadService } from './load-service.ts'
import type { ServiceSettings } from './settings.ts'

/**
 * Nothing of the service is started.
 *
 * @returns the OpenAPI document of a service file as text.
 */
export async function openapiText({ service, options }: ServiceSettings): Promise<string> {
  const { baseUrl = '/' } = options
  return JSON.stringify(
    await describeServer(await loadService(service), parseBaseUrl(baseUrl)),
    undefined,
    2,
  )
}
