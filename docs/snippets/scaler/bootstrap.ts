import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { handler } from './lambda.ts'
import svc from './scaler.ts'

const runtime = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`

/** Asks the Runtime API. Without a limit of time: Lambda freezes the process between two events. */
async function ask(path: string, message?: unknown) {
  const asked = request(runtime + path, { method: message === undefined ? 'GET' : 'POST' })
  asked.end(JSON.stringify(message))
  const [answer] = await once(asked, 'response')
  const body = await text(answer)
  if (answer.statusCode >= 400) throw new Error(`the Runtime API answered ${body}`)
  return { id: answer.headers['lambda-runtime-aws-request-id'], body }
}

const faultOf = (error: unknown) => ({ errorType: 'Error', errorMessage: String(error) })

try {
  await svc.start() // Loads the models of its Runners.
} catch (error) {
  await ask('/init/error', faultOf(error))
  throw error
}
for (;;) {
  const { id, body } = await ask('/invocation/next')
  try {
    await ask(`/invocation/${id}/response`, await handler(JSON.parse(body)))
  } catch (error) {
    await ask(`/invocation/${id}/error`, faultOf(error))
  }
}
