import type { ApiInfo } from '../../client/description.ts'
import { Live } from '../../client/live.ts'
import { contentOf, encodeFrame, escaped, type Frame } from '../../client/live-frames.ts'
import type { ServingError } from '../../client/serving-error.ts'
import { answerView } from './answer.ts'
import type { Credentials } from './credentials.ts'
import { button, failure, h } from './dom.ts'
import { showError } from './exchange.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { record } from './microphone.ts'

const maxAnswers = 200

/**
 * `box`: where answers and failures are shown, beside those that `field` marks.
 *
 * @returns what sends the content of the field over a live stream, the buttons beside it, and what
 * closes it.
 */
export function liveView(
  api: ApiInfo,
  box: HTMLElement,
  field: Field,
  base: string,
  credentials: Credentials,
) {
  let live: Live<unknown, Response> | undefined
  let stopRecording = () => {}
  const state = h('span.status')
  const list = h('div.answers', { tabindex: '0', role: 'log', 'aria-label': 'answers' })
  const end = button('End', () => {
    stopRecording()
    live?.end()
  })
  const microphone = button('Microphone', () =>
    microphone.textContent === 'Stop' ? stopRecording() : void speak(),
  )
  end.hidden = true
  microphone.hidden = !takesSound(api)

  const fail = (error: unknown): ErrorLocation[] => {
    const { status, issues } = error as ServingError
    if (status === 401) credentials.askAny()
    if (issues !== undefined) return showError(box, error as ServingError, status)
    box.append(failure((error as Error).message))
    return []
  }
  const begin = () => {
    const { 'x-api-key': apiKey, authorization } = credentials.headers()
    const token = authorization?.replace('Bearer ', '')
    const own = { apiKey, token, retries: 0, timeoutMs: 30_000 }
    const find = async () => api
    const opened = new Live<unknown, Response>(find, base, own, own, encode, contentOf)
    list.replaceChildren()
    box.replaceChildren(h('p.facts', state), list)
    state.textContent = 'open'
    end.hidden = false
    void show(opened)
    return opened
  }
  const show = async (own: Live<unknown, Response>) => {
    try {
      for await (const answer of own) {
        const view = await answerView(api.output, answer)
        const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8
        list.append(view)
        if (list.childElementCount > maxAnswers) list.firstElementChild?.remove()
        if (isAtEnd) list.scrollTop = list.scrollHeight
      }
    } catch (error) {
      if (live === own) field.mark(fail(error))
    }
    // Another one may have taken its place.
    if (live !== own) return
    live = undefined
    stopRecording()
    state.textContent = 'ended'
    end.hidden = true
  }
  const say = (value: Content | Float32Array) => {
    live ??= begin()
    live.send(value).catch((error: ServingError) => {
      // Other errors are those of the stream, which are shown.
      if (error.code === 'payload_too_large') fail(error)
    })
  }
  const send = () => {
    try {
      say(field.read())
    } catch (error) {
      fail(error)
    }
  }
  const speak = async () => {
    microphone.disabled = true
    try {
      const stop = await record(say)
      microphone.textContent = 'Stop'
      stopRecording = () => {
        stop()
        stopRecording = () => {}
        microphone.textContent = 'Microphone'
      }
    } catch (error) {
      fail(error)
    } finally {
      microphone.disabled = false
    }
  }
  const leave = () => {
    stopRecording()
    live?.close()
    live = undefined
  }
  return { send, leave, buttons: [microphone, end] }
}

/** Whether an API takes samples of sound, in pieces of any length. */
function takesSound({ input: { id, args } }: ApiInfo): boolean {
  const { dtype, shape } = args
  return (
    id === 'serving.io.NumpyNdarray' &&
    dtype === 'float32' &&
    Array.isArray(shape) &&
    String(shape) === '-1'
  )
}

async function encode(api: ApiInfo, value: unknown): Promise<Frame> {
  if (value instanceof Float32Array) return encodeFrame(api, value)
  const { data } = value as Content
  if (typeof data === 'string') return escaped(api, data)
  return data.arrayBuffer()
}
