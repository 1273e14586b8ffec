/** `serving/openai`: Runners behind the HTTP endpoints of OpenAI, for its clients. @module serving/openai */

import { type AsyncOptions, parseAsync } from '../../api/async-options.ts'
import type { Protocol } from '../../api/protocol.ts'
import { readOptions } from '../../core/option.ts'
import { checkOptions, checkThat, isRecord } from '../../core/options.ts'
import type { JobProtocol } from '../../jobs/job-kind.ts'
import { keptOf, kindsOf } from './job-kinds.ts'
import type { OpenAiModel } from './method-types.ts'
import { modelOf, modelOptions, type ServedModel } from './model.ts'

export type { Protocol } from '../../api/protocol.ts'
export type {
  ChatContent,
  ChatMessage,
  ChatRequest,
  CompletionRequest,
  ContentPart,
  Delta,
  Embeddings,
  OpenAiModel,
  Prompt,
  RerankRequest,
  SamplingRequest,
  Scores,
  TokenCounts,
  TokenLogprob,
  ToolCallDelta,
  Transcript,
  TranscriptionRequest,
} from './method-types.ts'
export type { Accepted, ServedModel } from './model.ts'

/** Options of {@link openai}. */
export interface OpenAiOptions {
  /** The Runners by the names that requests have in `model`. The service loads them. */
  readonly models: Readonly<Record<string, OpenAiModel | ServedModel>>
  /**
   * Keeps responses, files and batches on the job store of the service, for `resultTtl`, and how their jobs run.
   *
   * @default nothing is kept
   */
  readonly async?: boolean | AsyncOptions
}

/**
 * @returns the endpoints `/v1/models`, `/v1/chat/completions`, `/v1/completions`, `/v1/embeddings`, `/v1/rerank` and
 * `/v1/audio/transcriptions`.
 * @throws InvalidArgument.
 * @example
 * `new Service('chat', { protocols: [openai({ models: { tiny: runner } })] })`
 */
export function openai(options: OpenAiOptions): Protocol {
  const { models, async } = checkOptions('openai', options, ['models', 'async'])
  const settings = parseAsync('async of openai', async)
  const entries = isRecord(models) ? Object.entries(models) : []
  checkThat(entries.length > 0, 'Runners by name', 'models of openai', models)
  const served = entries.map(([name, entry]) => {
    const what = `the model ${name} of openai`
    const placeOf = (option: string) => (option === 'runner' ? what : `${option} of ${what}`)
    const given = isRecord(entry) && 'runner' in entry ? entry : { runner: entry }
    return [name, readOptions(what, given, modelOptions, placeOf)] as const
  })
  const modelsOf = async () => {
    const ready = await Promise.all(served.map(([name, model]) => modelOf(name, model)))
    return new Map(ready.map((model) => [model.name, model]))
  }
  const kinds = settings && kindsOf(modelsOf, settings)
  const protocol: JobProtocol = {
    name: 'openai',
    jobKinds: Object.values(kinds ?? {}),
    runners: [...new Set(served.map(([, { runner }]) => runner))],
    async attach(host, jobs) {
      const { openAiEndpoints } = await import('./endpoints.ts')
      const kept = kinds && jobs && (await keptOf(jobs, kinds))
      for (const endpoint of await openAiEndpoints(await modelsOf(), host, kept))
        host.http(endpoint)
    },
  }
  return protocol
}
