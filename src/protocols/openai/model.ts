import { BadInput, NotFound, show } from '../../core/errors.ts'
import type { RunnerLife } from '../../runner/runner.ts'
import type { CallOptions } from '../../runner/runner-options.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { ChatRequest, CompletionRequest } from './requests.ts'

/** How many tokens a model has read and written. */
export interface TokenCounts {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
}

/** What a model yields: a token's text, or an object of any of these members. */
export type Delta =
  | string
  | {
      readonly text?: string
      /** The last ones count. Without them each text counts as one token, and the prompt as 0. */
      readonly usage?: TokenCounts
      /**
       * Why the text ends.
       *
       * @default `length` after `max_tokens` texts, else `stop`
       */
      readonly finish_reason?: string
    }

type Vectors = NDArray | readonly (readonly number[] | Float32Array | Float64Array)[]

/** One row for each input, or such rows and each input's number of tokens. */
export type Embeddings =
  | Vectors
  | { readonly embeddings: Vectors; readonly tokens: readonly number[] }

type Deltas = AsyncIterable<Delta> | Promise<Delta>

/** A Runner with one or several of these methods. */
export interface OpenAiModel extends RunnerLife {
  /** Answers `/v1/chat/completions`. A generator, or a function that returns the whole text. */
  chat?(request: ChatRequest, options: CallOptions): Deltas
  /** Answers `/v1/completions`, as `chat`. */
  generate?(request: CompletionRequest, options: CallOptions): Deltas
  /** Answers `/v1/embeddings`; may be batchable. */
  embed?(inputs: readonly string[], options: CallOptions): Promise<Embeddings>
}

/** The methods of a model. */
export const methodNames = ['chat', 'generate', 'embed'] as const

/** @returns the names of the models that have a method. */
export function modelsWith(
  models: ReadonlyMap<string, OpenAiModel>,
  method: (typeof methodNames)[number],
): readonly string[] {
  return [...models].filter(([, model]) => model[method] !== undefined).map(([name]) => name)
}

/** @throws NotFound for an unknown model; BadInput for one without the method. */
export function methodOf<N extends (typeof methodNames)[number]>(
  models: ReadonlyMap<string, OpenAiModel>,
  name: unknown,
  method: N,
): NonNullable<OpenAiModel[N]> {
  const model = findModel(models, name)
  const found = model[method]
  if (found !== undefined) return found.bind(model) as NonNullable<OpenAiModel[N]>
  const having = modelsWith(models, method)
  const what =
    having.length === 0 ? `no model here can ${method}` : `expected one of ${having.join(', ')}`
  throw new BadInput(`${what} for model, received ${show(name)}, which cannot ${method}`, {
    path: 'model',
  })
}

/** @throws NotFound. */
export function findModel(models: ReadonlyMap<string, OpenAiModel>, name: unknown): OpenAiModel {
  const model = models.get(name as string)
  if (model !== undefined) return model
  const message = `expected one of ${[...models.keys()].join(', ')} for model, received ${show(name)}`
  throw new NotFound(message, { path: 'model' }, { code: 'model_not_found' })
}
