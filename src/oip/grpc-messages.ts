/** The messages of the protocol. **Source**: proto/inference/grpc_service.proto, model_config.proto. @module */
import {
  bool,
  byteLists,
  count,
  type FieldType,
  packed,
  shape,
  string,
  strings,
  text,
} from '../messages/field-types.ts'
import { MessageType, message, messages } from '../messages/message-type.ts'
import { wireType } from '../messages/protobuf.ts'
import { maxDimensions } from '../values/array/shape.ts'
import { type ContentsField, datatypes } from './datatype.ts'
import type { modelConfig, modelMetadata } from './metadata.ts'
import type { IndexEntry } from './models.ts'
import type { RemoteTensor } from './remote-transport.ts'
import type { Duration, ModelStatistics } from './statistics.ts'

const maxTensors = 1000
const maxModels = 100_000
// Some more than tensors have: the error for those names the tensor.
const dims = shape('int64', 10 * maxDimensions)

/** What ModelReady, ModelMetadata, ModelConfig and ModelStatistics are asked with. */
export interface ModelName {
  readonly name?: string
  readonly version?: string
}

/** Names a model. */
export const modelName = new MessageType<ModelName>({ name: [1, text], version: [2, text] })

/** ServerLiveResponse, ServerReadyResponse and ModelReadyResponse. */
export const flagAnswer = new MessageType<{ flag?: boolean }>({ flag: [1, bool] })

/** RepositoryIndexRequest. */
export const indexRequest = new MessageType<{ ready?: boolean }>({ ready: [2, bool] })

/** RepositoryModelLoadRequest and RepositoryModelUnloadRequest. */
export const changeRequest = new MessageType<{ model_name?: string }>({ model_name: [2, text] })

/** ServerMetadataResponse. */
export const serverMetadata = new MessageType<{ name: string; version: string; extensions: readonly string[] }>({
  name: [1, text],
  version: [2, text],
  extensions: [3, strings],
})

/** Name, datatype and shape of a tensor. */
const tensorInfo = new MessageType<RemoteTensor>({ name: [1, text], datatype: [2, text], shape: [3, dims] })

/** One of them. */
interface Parameter {
  readonly bool_param?: boolean
  readonly int64_param?: number
  readonly string_param?: string
  readonly double_param?: number
  readonly uint64_param?: number
}

/** An entry of a map of parameters. */
export interface ParameterEntry {
  readonly key?: string
  readonly value?: Parameter
}

const parameter = new MessageType<Parameter>({
  // A member of a oneof is written if it is false, too.
  bool_param: [1, { ...bool, write: (writer, number, is: boolean) => writer.tag(number, wireType.varint).bool(is) }],
  int64_param: [2, { ...count, read: (reader) => Number(String(reader.int64())) }],
  string_param: [3, string],
  double_param: [4, { ...count, wires: [wireType.fixed64], read: (reader) => reader.double() }],
  uint64_param: [5, count],
})
const entry = new MessageType<ParameterEntry>({ key: [1, text], value: [2, message(parameter)] })
const parameters = messages(entry, maxTensors, 'parameters')

/** One of them. */
export type Contents = Readonly<Record<ContentsField, ArrayLike<unknown> | undefined>>

const contents = new MessageType<Contents>({
  bool_contents: [1, packed('bool')],
  int_contents: [2, packed('int32')],
  int64_contents: [3, packed('int64')],
  uint_contents: [4, packed('uint32')],
  uint64_contents: [5, packed('uint64')],
  fp32_contents: [6, packed('float32')],
  fp64_contents: [7, packed('float64')],
  bytes_contents: [8, byteLists],
})

interface InferInput extends Partial<RemoteTensor> {
  readonly parameters?: readonly ParameterEntry[]
  readonly contents?: Contents
}
const inferInput = new MessageType<InferInput>({
  name: [1, text],
  datatype: [2, text],
  shape: [3, dims],
  parameters: [4, parameters],
  contents: [5, message(contents)],
})

interface InferOutput {
  readonly name?: string
  readonly parameters?: readonly ParameterEntry[]
}
const inferOutput = new MessageType<InferOutput>({ name: [1, text], parameters: [2, parameters] })

/** ModelInferRequest. */
export interface InferMessage {
  readonly model_name?: string
  readonly model_version?: string
  readonly id?: string
  readonly parameters?: readonly ParameterEntry[]
  readonly inputs?: readonly InferInput[]
  readonly outputs?: readonly InferOutput[]
  readonly raw_input_contents?: readonly Uint8Array[]
}

/** ModelInferRequest. */
export const inferRequest = new MessageType<InferMessage>({
  model_name: [1, text],
  model_version: [2, text],
  id: [3, text],
  parameters: [4, parameters],
  inputs: [5, messages(inferInput, maxTensors, 'inputs')],
  outputs: [6, messages(inferOutput, maxTensors, 'outputs')],
  raw_input_contents: [7, byteLists],
})

/** ModelInferResponse. */
export interface InferAnswer {
  readonly model_name?: string
  readonly model_version?: string
  readonly id?: string
  readonly parameters?: readonly ParameterEntry[]
  readonly outputs?: readonly RemoteTensor[]
  readonly raw_output_contents?: readonly Uint8Array[]
}

/** ModelInferResponse. */
export const inferAnswer = new MessageType<InferAnswer>({
  model_name: [1, text],
  model_version: [2, text],
  id: [3, text],
  parameters: [4, parameters],
  outputs: [5, messages(tensorInfo, maxTensors, 'outputs')],
  raw_output_contents: [6, byteLists],
})

/** ModelStreamInferResponse. */
export const streamAnswer = new MessageType<{ error_message?: string; infer_response?: InferAnswer }>({
  error_message: [1, text],
  infer_response: [2, message(inferAnswer)],
})

/** ModelMetadataResponse. */
export const metadataAnswer = new MessageType<ReturnType<typeof modelMetadata>>({
  name: [1, text],
  versions: [2, strings],
  platform: [3, text],
  inputs: [4, messages(tensorInfo, maxTensors, 'inputs')],
  outputs: [5, messages(tensorInfo, maxTensors, 'outputs')],
})

const configNumbers = new Map<string, number>(
  Object.values(datatypes).map(({ config: [number, name] }) => [name, number]),
)
const dataType: FieldType = {
  ...count,
  write: (writer, number, name: string) => count.write(writer, number, (configNumbers.get(name) ?? 0) as never),
}

type Config = ReturnType<typeof modelConfig>
const input = new MessageType<Pick<Config['input'][number], 'name' | 'data_type' | 'dims' | 'optional'>>({
  name: [1, text],
  data_type: [2, dataType],
  dims: [4, dims],
  optional: [8, bool],
})
const output = new MessageType<Pick<Config['output'][number], 'name' | 'data_type' | 'dims'>>({
  name: [1, text],
  data_type: [2, dataType],
  dims: [3, dims],
})
const policy = new MessageType<Config['model_transaction_policy']>({ decoupled: [1, bool] })
const config = new MessageType<
  Pick<Config, 'name' | 'platform' | 'max_batch_size' | 'input' | 'output' | 'backend' | 'model_transaction_policy'>
>({
  name: [1, text],
  platform: [2, text],
  max_batch_size: [4, count],
  input: [5, messages(input, maxTensors, 'inputs')],
  output: [6, messages(output, maxTensors, 'outputs')],
  backend: [17, text],
  model_transaction_policy: [19, message(policy)],
})

/** ModelConfigResponse. */
export const configAnswer = new MessageType<{ config: Config }>({ config: [1, message(config)] })

const duration = message(new MessageType<Duration>({ count: [1, count], ns: [2, count] }))
const inferences = new MessageType<Record<string, Duration>>({
  success: [1, duration],
  fail: [2, duration],
  queue: [3, duration],
  compute_input: [4, duration],
  compute_infer: [5, duration],
  compute_output: [6, duration],
  cache_hit: [7, duration],
  cache_miss: [8, duration],
})
const batch = new MessageType<ModelStatistics['batch_stats'][number]>({
  batch_size: [1, count],
  compute_input: [2, duration],
  compute_infer: [3, duration],
  compute_output: [4, duration],
})
const statistics = new MessageType<Omit<ModelStatistics, 'response_stats' | 'memory_usage'>>({
  name: [1, text],
  version: [2, text],
  last_inference: [3, count],
  inference_count: [4, count],
  execution_count: [5, count],
  inference_stats: [6, message(inferences)],
  batch_stats: [7, messages(batch, maxModels, 'sizes of batches')],
})

/** ModelStatisticsResponse. */
export const statisticsAnswer = new MessageType<{ model_stats: readonly ModelStatistics[] }>({
  model_stats: [1, messages(statistics, maxModels, 'models')],
})

const indexEntry = new MessageType<IndexEntry>({
  name: [1, text],
  version: [2, text],
  state: [3, text],
  reason: [4, text],
})

/** RepositoryIndexResponse. */
export const indexAnswer = new MessageType<{ models: readonly IndexEntry[] }>({
  models: [1, messages(indexEntry, maxModels, 'models')],
})
