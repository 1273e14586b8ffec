/** `serving/openai`: Runners behind the HTTP endpoints of OpenAI, for its clients. @module serving/openai */

import type { Protocol } from '../../api/protocol.ts'
import { checkOptions, checkThat, isRecord } from '../../core/options.ts'
import { openAiEndpoints } from './endpoints.ts'
import { methodNames, type OpenAiModel } from './model.ts'

export type { Protocol } from '../../api/protocol.ts'
export type { Delta, Embeddings, OpenAiModel, TokenCounts } from './model.ts'
export type { ChatMessage, ChatRequest, CompletionRequest, SamplingRequest } from './requests.ts'

/** Options of {@link openai}. */
export interface OpenAiOptions {
  /** The Runners by the names that requests have in `model`. The service loads them. */
  readonly models: Readonly<Record<string, OpenAiModel>>
}

/**
 * @returns the endpoints `/v1/models`, `/v1/chat/completions`, `/v1/completions` and
 * `/v1/embeddings`.
 * @throws InvalidArgument.
 * @example
 * `new Service('chat', { protocols: [openai({ models: { tiny: runner } })] })`
 */
export function openai(options: OpenAiOptions): Protocol {
  const { models } = checkOptions('openai', options, ['models'])
  const named = isRecord(models) ? Object.entries(models) : []
  checkThat(named.length > 0, 'Runners by name', 'models of openai', models)
  for (const [name, runner] of named) {
    const ok =
      typeof runner?.start === 'function' &&
      methodNames.some((method) => typeof runner[method] === 'function')
    checkThat(
      ok,
      `a Runner with a method ${methodNames.join(', ')}`,
      `the model ${name} of openai`,
      runner,
    )
  }
  const known = new Map(named)
  return {
    name: 'openai',
    runners: [...new Set(known.values())],
    attach(host) {
      for (const endpoint of openAiEndpoints(known, host)) host.http(endpoint)
    },
  }
}
