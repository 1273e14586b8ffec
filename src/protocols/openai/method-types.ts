/** The methods of a model, what they get, and what they give. Requests have the names of OpenAI's API. @module */

import type { BinaryFile } from '../../core/file/binary-file.ts'
import type { RunnerLife } from '../../runner/runner.ts'
import type { CallOptions } from '../../runner/runner-options.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { RasterImage } from '../../values/image/raster.ts'

/** What both kinds of requests have. Other members come as the client sent them. */
export interface SamplingRequest {
  readonly model: string
  /** The server ends the text after as many deltas, if the model does not. Also set by `max_completion_tokens`. */
  readonly max_tokens?: number
  /** The server ends the text in front of the first of these, if the model does not. */
  readonly stop: readonly string[]
  readonly temperature?: number
  readonly top_p?: number
  readonly presence_penalty?: number
  readonly frequency_penalty?: number
  readonly seed?: number
  readonly [member: string]: unknown
}

/** A part of a message: a text, or what the Image and File descriptors have decoded. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image: RasterImage; readonly detail?: unknown }
  | { readonly type: 'input_audio'; readonly audio: BinaryFile }
  | { readonly type: 'file'; readonly file: BinaryFile }

/** A text. Parts come to models that accept others than texts, if there are others. */
export type ChatContent = string | readonly ContentPart[]

/** One message of a chat. */
export interface ChatMessage<C extends ChatContent = string> {
  readonly role: string
  /** Parts of text alone are joined by line breaks. */
  readonly content: C
  readonly [member: string]: unknown
}

/**
 * What `chat` of a model gets: texts, or parts as well for `ChatRequest<ChatContent>`. `tools`, `tool_choice` and
 * `response_format` come as the client sent them.
 */
export interface ChatRequest<C extends ChatContent = string> extends SamplingRequest {
  readonly messages: readonly ChatMessage<C>[]
}

/** A text, or the tokens of one. */
export type Prompt = string | readonly number[]

/** What `generate` of a model gets, once for each prompt. */
export interface CompletionRequest<P extends Prompt = string> extends SamplingRequest {
  readonly prompt: P
}

/** How many tokens a model has read and written. The client gets other counts unchanged. */
export interface TokenCounts {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly [count: string]: unknown
}

/** A piece of a call that the model wants. The one with its name comes first. */
export interface ToolCallDelta {
  /** @default a new call if there is a name, else the last one */
  readonly index?: number
  /** @default made by the server */
  readonly id?: string
  readonly name?: string
  /** A piece of the JSON text, or all arguments as an object. */
  readonly arguments?: string | object
}

/** How likely a token was: a natural logarithm. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  /** The most likely tokens in its place. */
  readonly top_logprobs?: readonly Omit<TokenLogprob, 'top_logprobs'>[]
}

/** What a model yields: a token's text, or an object of any of these members. */
export type Delta =
  | string
  | {
      readonly text?: string
      /** A piece of what the model thinks in front of its answer. */
      readonly reasoning?: string
      readonly tool_call?: ToolCallDelta
      /** Those of the text's tokens. */
      readonly logprobs?: readonly TokenLogprob[]
      /** The last ones count. Without them each piece counts as one token, and the prompt as 0. */
      readonly usage?: TokenCounts
      /**
       * Why the answer ends.
       *
       * @default `length` after `max_tokens` pieces, `tool_calls` after a call, else `stop`
       */
      readonly finish_reason?: string
    }

type Vectors = NDArray | readonly (readonly number[] | Float32Array | Float64Array)[]

/** One row for each input, or such rows and each input's number of tokens. */
export type Embeddings =
  | Vectors
  | { readonly embeddings: Vectors; readonly tokens: readonly number[] }

/** What `rerank` of a model gets. Other members come as the client sent them. */
export interface RerankRequest {
  readonly model: string
  readonly query: string
  readonly documents: readonly string[]
  readonly [member: string]: unknown
}

type Numbers = NDArray | readonly number[] | Float32Array | Float64Array

/** One number for each document: the larger, the better. Or such numbers and the tokens of the request. */
export type Scores = Numbers | { readonly scores: Numbers; readonly tokens: number }

/** What `transcribe` of a model gets. */
export interface TranscriptionRequest {
  readonly model: string
  readonly file: BinaryFile
  readonly language?: string
  readonly prompt?: string
  readonly temperature?: number
  readonly timestamp_granularities?: readonly string[]
}

/** A text, a piece of one, or an object of any of these members, which `verbose_json` shows. */
export type Transcript =
  | string
  | {
      readonly text?: string
      readonly language?: string
      /** **Units**: seconds. */
      readonly duration?: number
      readonly segments?: readonly object[]
      readonly words?: readonly object[]
      readonly usage?: TokenCounts
    }

type Pieces<T> = AsyncIterable<T> | Promise<T>

/** A Runner with one or several of these methods. */
export interface OpenAiModel extends RunnerLife {
  /**
   * Answers `/v1/chat/completions`. A generator, or a function that returns the whole text. Declare a
   * `ChatRequest`, or a `ChatRequest<ChatContent>` if it accepts other parts than texts.
   */
  chat?(request: ChatRequest<string & readonly ContentPart[]>, options: CallOptions): Pieces<Delta>
  /** Answers `/v1/completions`, as `chat`. */
  generate?(
    request: CompletionRequest<string & readonly number[]>,
    options: CallOptions,
  ): Pieces<Delta>
  /** Answers `/v1/embeddings`; may be batchable. Lists of tokens come if it accepts `tokens`. */
  embed?(inputs: readonly Prompt[], options: CallOptions): Promise<Embeddings>
  /** Answers `/v1/rerank`. */
  rerank?(request: RerankRequest, options: CallOptions): Promise<Scores>
  /** Answers `/v1/audio/transcriptions`, as `chat`. */
  transcribe?(request: TranscriptionRequest, options: CallOptions): Pieces<Transcript>
}
