import type { Visit } from '../../api/visit.ts'
import { BadInput, BadOutput, expected } from '../../core/errors.ts'
import { type Fault, maxSteps, SchemaCheck } from '../../core/json-schema/fault.ts'
import { isRecord } from '../../core/options.ts'
import { randomHex } from '../../core/platform.ts'
import { parseText } from '../../core/text/parse-text.ts'
import type {
  Delta,
  SamplingRequest,
  TokenCounts,
  TokenLogprob,
  ToolCallDelta,
} from './method-types.ts'
import { eachOf, merged, type Pieces } from './pieces.ts'

/** A piece of a call; id and name come with the first one of its index. */
export interface ToolCallPart {
  readonly index: number
  readonly id?: string
  readonly name?: string
  readonly arguments: string
}

/** A piece of an answer, with one or several members. */
export interface Part {
  readonly text?: string | undefined
  readonly reasoning?: string | undefined
  readonly toolCall?: ToolCallPart | undefined
  readonly logprobs?: readonly TokenLogprob[] | undefined
}

/** All pieces of an answer. */
export interface Whole {
  text: string
  reasoning: string
  readonly toolCalls: { id: string; name: string; arguments: string }[]
  readonly logprobs: TokenLogprob[]
}

/** The counts of an answer. */
export type Usage = Required<Pick<TokenCounts, 'prompt_tokens' | 'completion_tokens'>> & {
  readonly total_tokens: number
  readonly [count: string]: unknown
}

/** Ends a model's text at `stop` and `max_tokens`, checks it by `response_format`, and counts. */
export class Completion {
  finishReason = 'stop'
  usage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  /**
   * The answer in pieces.
   *
   * @throws those of the model; BadOutput, also for a text that does not fit `response_format`.
   */
  readonly parts: AsyncGenerator<Part>

  constructor(deltas: Pieces<Delta>, request: SamplingRequest, visit: Visit) {
    this.parts = this.#read(deltas, request, visit)
  }

  async *#read(
    deltas: Pieces<Delta>,
    { max_tokens: maxTokens, stop, response_format: format }: SamplingRequest,
    visit: Visit,
  ): AsyncGenerator<Part> {
    const held = new StopText(stop)
    const calls = new Calls()
    let told = {}
    let reason: string | undefined
    let count = 0
    let checked = ''
    const show = (text: string) => {
      if (format === undefined) return
      visit.hold(2 * text.length)
      checked += text
    }
    for await (const delta of eachOf(deltas)) {
      const parts = partsOf(delta)
      const { text = '', reasoning = '', tool_call: call, logprobs, usage, finish_reason } = parts
      told = { ...told, ...usage }
      reason = finish_reason ?? reason
      if (text === '' && reasoning === '' && call === undefined) continue
      // A model that honours `max_tokens` may tell its counts after the last text.
      if (count === maxTokens) break
      count++
      const shown = held.push(text)
      show(shown)
      const toolCall = call && calls.place(call)
      if (shown || reasoning || toolCall || logprobs)
        yield { text: shown || undefined, reasoning: reasoning || undefined, toolCall, logprobs }
      if (held.isOver) break
    }
    if (!held.isOver && held.rest !== '') {
      show(held.rest)
      yield { text: held.rest }
    }
    const ended = calls.count > 0 ? 'tool_calls' : 'stop'
    this.finishReason = held.isOver ? 'stop' : (reason ?? (count === maxTokens ? 'length' : ended))
    const usage = { prompt_tokens: 0, completion_tokens: count, ...told }
    this.usage = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
    // A text that was cut, or that a call stands for, cannot fit.
    if (this.finishReason === 'stop' && calls.count === 0) checkText(checked, format)
  }
}

/**
 * @returns the whole answers. Ends them all if one fails.
 * @throws as {@link Completion.parts}; Overloaded.
 */
export async function collect(completions: readonly Completion[], visit: Visit): Promise<Whole[]> {
  const wholes = completions.map(
    (): Whole => ({ text: '', reasoning: '', toolCalls: [], logprobs: [] }),
  )
  for await (const [i, part] of merged(completions.map((each) => each.parts))) {
    const whole = wholes[i]
    visit.hold(2 * JSON.stringify(part).length)
    const { text = '', reasoning = '', toolCall: call, logprobs = [] } = part
    whole.text += text
    whole.reasoning += reasoning
    whole.logprobs.push(...logprobs)
    if (call === undefined) continue
    const { index, id = '', name = '', arguments: given } = call
    whole.toolCalls[index] ??= { id, name, arguments: '' }
    whole.toolCalls[index].arguments += given
  }
  return wholes
}

/** @throws BadOutput. */
function checkText(text: string, format: unknown): void {
  const { type, json_schema: wanted } = Object(format)
  if (type !== 'json_object' && type !== 'json_schema') return
  const { schema = { type: 'object' } } = Object(wanted)
  let misfit: string | undefined
  try {
    misfit = misfitOf(parseText(text), schema)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    misfit = 'JSON'
  }
  if (misfit === undefined) return
  const message = `expected ${misfit}, as response_format says, in the text of the model`
  throw new BadOutput(message, { path: 'response_format' })
}

/**
 * @returns where and how a value does not fit a schema of a client; undefined if it does.
 * @throws BadInput for a schema that takes too long.
 */
export function misfitOf(value: unknown, schema: unknown): string | undefined {
  const check = new SchemaCheck(schema, false)
  const refuse = (what: string) => {
    const message = `expected a schema ${what} for response_format, received another`
    return new BadInput(message, { reason: 'schema', path: 'response_format' })
  }
  let fault: Fault | undefined
  try {
    fault = check.fault(value, schema)
  } catch (cause) {
    // An object with a member toString is no text.
    throw cause instanceof TypeError ? refuse('of texts, numbers and lists') : cause
  }
  if (check.stepsLeft < 0) throw refuse(`that takes at most ${maxSteps} steps`)
  if (fault === undefined) return undefined
  return `${fault.wanted.slice(0, 200)} for ${fault.path.replace(/^\./, '') || 'the value'}`
}

/** Numbers the calls of an answer. */
class Calls {
  count = 0

  /** @throws BadOutput for a call that begins without a name. */
  place(delta: ToolCallDelta): ToolCallPart {
    const { name, arguments: given = '' } = delta
    const index = delta.index ?? (name === undefined ? this.count - 1 : this.count)
    const text = typeof given === 'string' ? given : JSON.stringify(given)
    if (Number.isInteger(index) && index >= 0 && index < this.count)
      return { index, arguments: text }
    if (index !== this.count || typeof name !== 'string')
      throw new BadOutput(expected('the name of the next call first', 'a tool_call', delta))
    this.count++
    return { index, id: delta.id ?? `call_${randomHex(12)}`, name, arguments: text }
  }
}

type DeltaParts = Exclude<Delta, string>

/** @throws BadOutput. */
function partsOf(delta: Delta): DeltaParts {
  const parts = typeof delta === 'string' ? { text: delta } : delta
  const { text = '', reasoning = '', tool_call = {}, logprobs = [] }: DeltaParts = Object(parts)
  const areTexts = typeof text === 'string' && typeof reasoning === 'string'
  if (isRecord(parts) && areTexts && isRecord(tool_call) && Array.isArray(logprobs)) return parts
  const what = 'a text or { text, reasoning, tool_call, logprobs, usage, finish_reason }'
  throw new BadOutput(expected(what, 'a delta of the model', delta))
}

/** Finds the first of several stops in a text that comes in pieces. */
class StopText {
  readonly #stops: readonly string[]
  /** The end of the text that may be the start of a stop. */
  rest = ''
  isOver = false

  constructor(stops: readonly string[]) {
    this.#stops = stops
  }

  /** @returns what no stop can hold any more. */
  push(piece: string): string {
    const text = this.rest + piece
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
    this.isOver = found.length > 0
    const end = this.isOver ? Math.min(...found) : this.#heldFrom(text)
    this.rest = text.slice(end)
    return text.slice(0, end)
  }

  /** Where the longest end of a text begins that may be the start of a stop. */
  #heldFrom(text: string): number {
    const longest = Math.max(0, ...this.#stops.map(({ length }) => length))
    let at = Math.max(0, text.length - longest)
    while (at < text.length && !this.#stops.some((stop) => stop.startsWith(text.slice(at)))) at++
    return at
  }
}
