import { HeaderList, HttpRequest, type Protocol, type ServingError, wholeBody } from 'serving'

const json = [['content-type', 'application/json']] as const
const headers = HeaderList.from({ 'content-type': 'application/json' })

/** `POST /v1/models/iris:predict` with `{"instances": [[5.1, 3.5]]}`, as KServe's first version. */
export const predict: Protocol = {
  name: 'predict',
  attach(host) {
    host.http({
      name: 'predict',
      path: `${host.prefix}/v1/models/{call}`,
      methods: ['POST'],
      access: { kind: 'message' },
      origins: 'any',
      readsHeaders: { all: true },
      isLimited: true,
      decompresses: true,
      operation: { operationId: 'predict', responses: { 200: { description: 'Predictions.' } } },
      problem,
      async answer(request, visit) {
        try {
          const name = visit.target.params.call.replace(/:predict$/, '')
          const api = visit.find(host.service.apis, name, 'the model')
          const { instances = null } = Object(visit.json(request))
          const body = new HttpRequest(headers, Buffer.from(JSON.stringify(instances)))
          return await visit.call(api, () => api.input.fromHttpRequest(body, visit.ctx), {
            async encode({ output }, result, ctx) {
              const bytes = await wholeBody(await output.toHttpResponse(result, ctx))
              return { headers: json, body: `{"predictions":${Buffer.from(bytes)}}` }
            },
            fail: (error, ctx) => problem(error, ctx.id),
          })
        } catch (error) {
          return problem(error as ServingError, visit.ctx.id)
        }
      },
    })
  },
}

function problem(error: ServingError, id: string) {
  return {
    status: error.status,
    headers: json,
    body: JSON.stringify({ error: error.message, id }),
    error,
  }
}
