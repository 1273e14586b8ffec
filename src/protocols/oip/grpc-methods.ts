/** The methods of `inference.GRPCInferenceService`, from bytes to bytes, without a gRPC package. @module */

import type { RpcMethod } from '../../api/protocol.ts'
import { functionFailureOf } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { NotFound } from '../../core/errors.ts'
import { bufferPool } from '../../core/memory/buffer-pool.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import type { EncodedMessage } from '../../messages/encoded-message.ts'
import * as gen from '../../messages/gen/inference.ts'
import { type MessageOf, type MessageType, messageType } from '../../messages/message-type.ts'
import { type GrpcInferRequest, readInferRequest } from './grpc-request.ts'
import { minPooledBytes, type Output } from './infer-answer.ts'
import { attempt, describeModel, infer, inferStream } from './inference.ts'
import { modelConfig, modelMetadata, serverMetadata } from './metadata.ts'
import { fail } from './model.ts'
import type { Models } from './models.ts'
import { type OipServer, probes } from './oip-endpoint.ts'
import { errorText } from './oip-error.ts'
import { writeRaw } from './tensor.ts'

/** Full name of the service. */
const grpcServiceName = 'inference.GRPCInferenceService'

/** May throw. */
type Answer = (message: Uint8Array, visit: Visit) => MaybePromise<EncodedMessage>

/** @returns the methods of a server's models. */
export function grpcMethods({ host, models, group }: OipServer): RpcMethod[] {
  const change =
    (action: 'load' | 'unload') =>
    async ({ model_name: name = '' }: { readonly model_name?: string }) => {
      await group.change(action, name)
      return {}
    }
  const unary: Record<string, Answer> = {
    ServerLive: method(nothing, gen.serverLiveResponse, () => ({ live: true })),
    ServerReady: method(nothing, gen.serverReadyResponse, () => ({
      ready: host.unready() === undefined,
    })),
    ModelReady: method(gen.modelReadyRequest, gen.modelReadyResponse, (request) => ({
      ready: isReady(models, request),
    })),
    ServerMetadata: method(nothing, gen.serverMetadataResponse, () => serverMetadata),
    ModelMetadata: method(
      gen.modelMetadataRequest,
      gen.modelMetadataResponse,
      ({ name, version }) => modelMetadata(models, name, version),
    ),
    ModelConfig: method(
      gen.modelConfigRequest,
      gen.modelConfigResponse,
      async ({ name, version }) => ({ config: await modelConfig(models, name, version) }),
    ),
    ModelInfer: (message, visit) => inferOne(models, readInferRequest(message), visit),
    ModelStatistics: method(
      gen.modelStatisticsRequest,
      gen.modelStatisticsResponse,
      ({ name = '', version }) => {
        if (name !== '' || host.introspection) return group.statistics(name, version)
        throw new NotFound('expected the name of a model, received none')
      },
    ),
    RepositoryModelLoad: method(gen.repositoryModelLoadRequest, nothing, change('load')),
    RepositoryModelUnload: method(gen.repositoryModelUnloadRequest, nothing, change('unload')),
    ...(host.introspection && {
      RepositoryIndex: method(
        gen.repositoryIndexRequest,
        gen.repositoryIndexResponse,
        ({ ready }) => ({ models: models.index(ready) }),
      ),
    }),
  }
  return [
    ...Object.entries(unary).map(([name, answer]): RpcMethod => {
      const access = /^Server(Live|Ready)$/.test(name) ? probes : { kind: 'service' as const }
      return {
        kind: 'unary',
        path: `/${grpcServiceName}/${name}`,
        access,
        answer: (message, visit) => attempt(() => answer(message, visit), fail),
      }
    }),
    {
      kind: 'duplex',
      path: `/${grpcServiceName}/ModelStreamInfer`,
      access: { kind: 'service' },
      answer: (message, visit) => streamOne({ host, models }, message, visit),
    },
  ]
}

/** A message without fields. */
const nothing = messageType({})

function method<Q extends object, A extends object>(
  request: MessageType<Q>,
  response: MessageType<A>,
  answer: (message: Q) => MaybePromise<A>,
): Answer {
  return (message) =>
    whenReady(answer(request.decode(message)), (value) => ({ bytes: response.encode(value) }))
}

/** An unknown model is not ready, which is no error over gRPC. */
function isReady(models: Models, request: MessageOf<typeof gen.modelReadyRequest>): boolean {
  const { name, version } = request
  try {
    return models.find(name, version).unready === undefined
  } catch (error) {
    if (error instanceof NotFound) return false
    throw error
  }
}

function inferOne(
  models: Models,
  request: GrpcInferRequest,
  visit: Visit,
): MaybePromise<EncodedMessage> {
  const model = models.find(request.name, request.version)
  const info = { name: model.name, version: model.version, id: request.id }
  return whenReady(infer(model, request.read(), visit), (outputs) =>
    encodeInferResponse(info, outputs),
  )
}

/**
 * Faults are answers, too, unless metadata ask for a status.
 *
 * @throws ServingErrors, which end the stream.
 */
async function* streamOne(
  { host, models }: Pick<OipServer, 'host' | 'models'>,
  message: Uint8Array,
  visit: Visit,
): AsyncGenerator<Uint8Array> {
  let info: AnswerInfo = { name: '', version: '', id: '' }
  try {
    const request = readInferRequest(message)
    info = { name: request.name, version: request.version, id: request.id }
    const { isStream } = await describeModel(models.find(request.name, request.version))
    // Looked up again: the version may have been replaced meanwhile.
    const model = models.find(request.name, request.version)
    info = { ...info, version: model.version, isFinal: true }
    const inputs = request.read()
    const answers = isStream
      ? await inferStream(model, inputs, visit)
      : [await infer(model, inputs, visit)]
    const each = { ...info, isFinal: !isStream }
    for await (const outputs of answers) yield encodeStreamResponse(each, outputs)
    if (isStream && request.parameters.triton_enable_empty_final_response === true)
      yield encodeStreamResponse(info, [])
  } catch (thrown) {
    const error = functionFailureOf(thrown)
    const { ctx } = visit
    if (ctx.headers.get('triton_grpc_error') === 'true') throw error
    host.logLate(error, ctx.id)
    yield encodeStreamResponse(info, [], errorText(error))
  }
}

interface AnswerInfo {
  readonly name: string
  readonly version: string
  readonly id: string
  readonly isFinal?: boolean
}

function encodeInferResponse(info: AnswerInfo, outputs: readonly Output[]): EncodedMessage {
  const { message, size } = answerOf(info, outputs)
  const isPooled = size >= minPooledBytes
  return {
    bytes: gen.modelInferResponse.encode(message, size, isPooled ? bufferPool : undefined),
    hasRoom: true,
    isPooled,
  }
}

function encodeStreamResponse(
  info: AnswerInfo,
  outputs: readonly Output[],
  error = '',
): Uint8Array {
  const { message, size } = answerOf(info, outputs)
  return gen.modelStreamInferResponse.encode(
    { error_message: error, infer_response: message },
    size,
  )
}

function answerOf({ name, version, id, isFinal }: AnswerInfo, outputs: readonly Output[]) {
  const raws = outputs.map(({ tensor }) => writeRaw(tensor))
  const message = {
    model_name: name,
    model_version: version,
    id,
    ...(isFinal !== undefined && {
      parameters: [{ key: 'triton_final_response', value: { bool_param: isFinal } }],
    }),
    outputs: outputs.map(({ tensor }) => ({ ...tensor, shape: tensor.array.shape })),
    raw_output_contents: raws,
  }
  return { message, size: raws.reduce((sum, raw) => sum + raw.length + 256, 256) }
}
