import {
  type BytesAnswer,
  type Encoding,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  type Protocol,
  type ServingError,
  type Visit,
  wholeBody,
} from 'serving'

const json = [['content-type', 'application/json']] as const

/** `POST /v1/models/iris:predict` with `{"instances": [[5.1, 3.5, 1.4, 0.2]]}`, as KServe's first version has it. */
export const predict: Protocol = {
  name: 'predict',
  attach(host) {
    const call = <R>(name: string, given: unknown, visit: Visit, encoding: Encoding<R>) => {
      const api = visit.find(host.service.apis, name, 'the model')
      const body = JSON.stringify(Object(given).instances ?? null)
      const request = new HttpRequest(
        HeaderList.from({ 'content-type': 'application/json' }),
        Buffer.from(body),
      )
      return visit.call(api, () => api.input.fromHttpRequest(request, visit.ctx), encoding)
    }
    host.http({
      ...{
        name: 'predict',
        path: `${host.prefix}/v1/models/{call}`,
        methods: ['POST'],
        readsHeaders: { all: true },
      },
      ...{
        access: { kind: 'message' },
        origins: 'any',
        isLimited: true,
        decompresses: true,
        operation,
        problem,
      },
      async answer(request, visit) {
        try {
          const name = visit.target.params.call.replace(/:predict$/, '')
          return await call<HttpResponse>(name, visit.json(request), visit, {
            encode: async (api, result, ctx) => ({
              headers: json,
              body: await predictions(api, result, ctx),
            }),
            fail: (error, ctx) => problem(error, ctx.id),
          })
        } catch (error) {
          return problem(error as ServingError, visit.ctx.id)
        }
      },
    })
    host.rpc({
      kind: 'unary',
      path: '/predict.v1.Models/Predict',
      access: { kind: 'message' },
      async answer(message, visit) {
        try {
          const given = visit.json(message)
          return await call<BytesAnswer>(String(Object(given).model), given, visit, {
            encode: async (api, result, ctx) => ({ bytes: await predictions(api, result, ctx) }),
            fail: (error) => ({ error }),
          })
        } catch (error) {
          return { error: error as ServingError }
        }
      },
    })
  },
}

const predictions: Encoding<Promise<Uint8Array>>['encode'] = async ({ output }, result, ctx) =>
  Buffer.from(
    `{"predictions":${Buffer.from(await wholeBody(await output.toHttpResponse(result, ctx)))}}`,
  )

const problem = (error: ServingError, id: string) =>
  ({
    status: error.status,
    headers: json,
    body: JSON.stringify({ error: error.message, id }),
    error,
  }) as const

const responses = { 200: { description: 'The list `predictions`.' } }
const operation = {
  operationId: 'predict',
  tags: ['predict'],
  summary: 'Calls an API with `instances`.',
  responses,
}
