import type { Visit } from '../../api/visit.ts'
import { type Body, check } from './body.ts'
import { Completion } from './completion.ts'
import type { Delta, SamplingRequest } from './method-types.ts'
import { type Models, methodOf } from './model.ts'
import type { Pieces } from './pieces.ts'
import { maxChoices, readChat, readCompletions } from './requests.ts'

/** Calls of a model that one request asks for. */
export interface Opened {
  readonly model: string
  readonly isStream: boolean
  readonly includesUsage: boolean
  /** How many answers each prompt has. */
  readonly perPrompt: number
  /** Prompt by prompt. */
  readonly completions: readonly Completion[]
}

/**
 * Checks a chat and calls its model.
 *
 * @throws NotFound; BadInput with the member as `path`; those of the descriptors.
 */
export async function openChat(models: Models, body: Body, visit: Visit): Promise<Opened> {
  const { model, call } = methodOf(models, body.model, 'chat')
  return openAll(body, [await readChat(body, model, visit)], call as Call, visit)
}

/** Checks prompts and calls their model. Throws as {@link openChat}. */
export function openCompletions(models: Models, body: Body, visit: Visit): Opened {
  const { model, call } = methodOf(models, body.model, 'generate')
  return openAll(body, readCompletions(body, model), call as Call, visit)
}

type Call = (request: SamplingRequest, options: Visit['ctx']) => Pieces<Delta>

function openAll(
  body: Body,
  requests: readonly SamplingRequest[],
  call: Call,
  visit: Visit,
): Opened {
  const { model, n = 1, stream, stream_options: options } = body
  const perPrompt = Number(n)
  const most = Math.floor(maxChoices / requests.length)
  check(perPrompt <= most, `at most ${most} for ${requests.length} prompts`, 'n', perPrompt)
  const completions = requests.flatMap((request) =>
    Array.from({ length: perPrompt }, (_, i) => {
      const { seed } = request
      // One seed would give one answer.
      const seeded = seed === undefined || i === 0 ? request : { ...request, seed: seed + i }
      return new Completion(call(seeded, visit.ctx), seeded, visit)
    }),
  )
  const includesUsage = Object(options).include_usage === true
  return { model: String(model), isStream: stream === true, includesUsage, perPrompt, completions }
}
