import type { Host } from '../../api/protocol.ts'
import type { Visit } from '../../api/visit.ts'
import { BadOutput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { File } from '../../descriptors/file.ts'
import { Multipart } from '../../descriptors/multipart.ts'
import { many, optional } from '../../descriptors/part-rule.ts'
import { Text } from '../../descriptors/text.ts'
import { nosniff } from '../../http/response-head.ts'
import { asked, type Body, checkMembers } from './body.ts'
import type { Transcript, TranscriptionRequest } from './method-types.ts'
import { type Models, methodOf } from './model.ts'
import { eachOf, type Pieces } from './pieces.ts'
import { eventOf, eventsAnswer, type Routes } from './route.ts'

const text = optional(new Text())

/** @returns the route of models that transcribe, whose form is read as it arrives. */
export function transcriptionRoutes(models: Models, logLate: Host['logLate']): Routes {
  const form = new Multipart({
    file: new File(),
    model: new Text(),
    language: text,
    prompt: text,
    response_format: text,
    temperature: text,
    stream: text,
    'timestamp_granularities[]': many(new Text()),
  })
  const answer = (body: Body, visit: Visit) => {
    const { call } = methodOf(models, body.model, 'transcribe')
    const {
      temperature: heat,
      'timestamp_granularities[]': timestamp_granularities,
      ...given
    } = body
    const temperature = heat && Number(heat)
    checkMembers({ ...given, temperature }, asked.transcription)
    const { response_format: format = 'json', stream, ...rest } = given
    const request = { ...rest, temperature, timestamp_granularities }
    const pieces = call(request as never as TranscriptionRequest, visit.ctx)
    if (stream === 'true') return eventsAnswer(transcriptEvents(pieces, visit), visit, logLate)
    return transcript(pieces, format, visit)
  }
  return { 'POST /audio/transcriptions': Object.assign(answer, { form }) }
}

/** What a model tells beside the text. */
type Told = Omit<Exclude<Transcript, string>, 'text'>

async function transcript(pieces: Pieces<Transcript>, format: unknown, visit: Visit) {
  const texts = textsOf(pieces, visit)
  let next = await texts.next()
  while (!next.done) next = await texts.next()
  const { text, usage } = next.value
  if (format === 'text')
    return {
      headers: [['content-type', 'text/plain; charset=utf-8'] as const, nosniff],
      body: text,
    }
  return JSON.stringify(format === 'json' ? { text, usage } : { task: 'transcribe', ...next.value })
}

async function* transcriptEvents(pieces: Pieces<Transcript>, visit: Visit): AsyncGenerator<string> {
  const { text, usage } = yield* textsOf(pieces, visit, (delta) =>
    eventOf({ type: 'transcript.text.delta', delta }),
  )
  yield eventOf({ type: 'transcript.text.done', text, usage })
}

/**
 * Yields the texts of a model, and returns all that it has told.
 *
 * @throws BadOutput; Overloaded.
 */
async function* textsOf(
  pieces: Pieces<Transcript>,
  visit: Visit,
  show: (text: string) => string = String,
): AsyncGenerator<string, Told & { readonly text: string }> {
  let told: Told = {}
  let whole = ''
  for await (const piece of eachOf(pieces)) {
    const part = typeof piece === 'string' ? { text: piece } : Object(piece)
    const { text = '', ...rest } = part
    if (typeof text !== 'string' || !isRecord(part))
      throw new BadOutput(expected('a text or { text, … }', 'a piece of transcribe', piece))
    visit.hold(2 * text.length)
    whole += text
    told = { ...told, ...rest }
    if (text !== '') yield show(text)
  }
  return { ...told, text: whole }
}
