/** The ways by which jobs.ts submits jobs and reads their answers. @module */
import type { ServiceError } from '@grpc/grpc-js'
import { getJobRequest, jobMessage } from '../../src/jobs/job-messages.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'

/** What a server is asked over HTTP, and again until it answers. */
export type AskHttp = (
  path: string,
  init?: RequestInit,
) => Promise<{ readonly status: number; readonly text: string }>

/** What a server is asked over gRPC, and again until it answers; an error is that of an unknown job. */
export type AskGrpc = (
  method: string,
  request: Uint8Array,
  metadata?: Record<string, string>,
) => Promise<{ readonly bytes?: Buffer; readonly error?: ServiceError }>

interface Door {
  /** Returns the id of the job, or what came in its place. */
  submit(text: string, key: string): Promise<unknown>
  /** What a completed job has answered: its text, if all is right. */
  answer(id: string, text: string): Promise<unknown>
}

/** The lines of a batch. */
export const batchLines = 3
const service = '/serving.v1.ServingService'
const json = 'application/json'

/** @returns the doors by name. Each batch is one job, which makes jobs of its lines. */
export function doorsOf(http: AskHttp, grpc: AskGrpc) {
  const post = async (path: string, type: string, key: string, body: string) => {
    const headers = { 'content-type': type, prefer: 'respond-async', 'idempotency-key': key }
    return parsed((await http(path, { method: 'POST', headers, body })).text)
  }
  const get = async (path: string) => parsed((await http(path)).text)
  const lineOf = (text: string) => ({
    url: '/v1/chat/completions',
    body: { model: 'said', messages: [{ role: 'user', content: text }] },
  })
  const fileOf = async (id: string | undefined) => {
    if (id === undefined) return []
    const { text } = await http(`/v1/files/${id}/content`)
    return text.trimEnd().split('\n').map(parsed)
  }
  return {
    http: {
      submit: async (text, key) => idOf(await post('/take', 'text/plain', key, text), ''),
      answer: async (id) => (await http(`/jobs/${id}/result`)).text,
    },
    grpc: {
      async submit(text, key) {
        const request = encodeRequest('take', { field: 'text', message: text })
        const { bytes, error } = await grpc('SubmitJob', request, { 'idempotency-key': key })
        return bytes === undefined ? error : jobMessage.decode(bytes).id
      },
      async answer(id) {
        const { bytes, error } = await grpc('GetJob', getJobRequest.encode({ id }))
        if (bytes === undefined) return error
        const { result } = jobMessage.decode(bytes)
        return result && decodeResponse(result)?.message
      },
    },
    connect: {
      async submit(text, key) {
        const body = JSON.stringify({ apiName: 'take', text })
        return idOf(await post(`${service}/SubmitJob`, json, key, body), '')
      },
      answer: async (id) =>
        (await post(`${service}/GetJob`, json, id, JSON.stringify({ id }))).result?.text,
    },
    background: {
      async submit(text, key) {
        const body = JSON.stringify({ model: 'said', input: text, background: true })
        const answer = await post('/v1/responses', json, key, body)
        return idOf(answer, 'resp_')
      },
      async answer(id) {
        const { output } = await get(`/v1/responses/resp_${id}`)
        return output?.[0]?.content?.[0]?.text
      },
    },
    batch: {
      async submit(text, key) {
        const lines = Array.from({ length: batchLines }, (_, i) =>
          JSON.stringify({ custom_id: `${i}`, method: 'POST', ...lineOf(`${text} line ${i}`) }),
        )
        const form = new FormData()
        form.set('purpose', 'batch')
        form.set('file', new File([lines.join('\n')], 'lines.jsonl'))
        const file = parsed((await http('/v1/files', { method: 'POST', body: form })).text)
        const { url } = lineOf('')
        const asked = { input_file_id: file.id, endpoint: url, completion_window: '24h' }
        return idOf(await post('/v1/batches', json, key, JSON.stringify(asked)), 'batch_')
      },
      async answer(id, text) {
        const batch = await get(`/v1/batches/batch_${id}`)
        const [done, failed] = [
          await fileOf(batch.output_file_id),
          await fileOf(batch.error_file_id),
        ]
        const numbers = [...done, ...failed].map((line) => Number(line.custom_id)).sort()
        const areAll = numbers.join() === Array.from({ length: batchLines }, (_, i) => i).join()
        const areRight = done.every(
          ({ custom_id: line, response }) =>
            response?.body.choices[0].message.content === `${text} line ${line}`,
        )
        // A line that was killed twice.
        const mayFail = failed.every(({ response }) => Number(response?.status_code) >= 500)
        return areAll && areRight && mayFail ? text : JSON.stringify([batch, done, failed])
      },
    },
  } satisfies Record<string, Door>
}

/** What is read of answers, and of the lines of files. */
interface Answer {
  readonly id?: string
  readonly result?: { readonly text?: string }
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[]
  readonly output_file_id?: string
  readonly error_file_id?: string
  readonly custom_id?: string
  readonly response?: {
    readonly status_code: number
    readonly body: {
      readonly choices: readonly { readonly message: { readonly content: string } }[]
    }
  }
}

const parsed = (text: string): Answer => JSON.parse(text)

/** The id of the job; all of the answer if it has none. */
function idOf(answer: Answer, prefix: string): unknown {
  return answer.id?.slice(prefix.length) ?? answer
}
