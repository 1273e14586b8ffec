/**
 * The messages of the protocol.
 *
 * @see proto/inference/grpc_service.proto, model_config.proto.
 * @module
 */
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
} from '../../messages/field-types.ts'
import { type MessageOf, message, messages, messageType } from '../../messages/message-type.ts'
import { wireType } from '../../messages/protobuf.ts'
import { maxDimensions } from '../../values/array/shape.ts'
import { datatypes } from './datatype.ts'

const maxTensors = 1000
const maxModels = 100_000
// Some more than tensors have: the error for those names the tensor.
const dims = shape('int64', 10 * maxDimensions)

/** Names a model; also what ModelReady, ModelMetadata, ModelConfig and ModelStatistics are asked with. */
export const modelName = messageType({ name: [1, text], version: [2, text] })

/** ServerLiveResponse, ServerReadyResponse and ModelReadyResponse. */
export const flagAnswer = messageType({ flag: [1, bool] })

/** RepositoryIndexRequest. */
export const indexRequest = messageType({ ready: [2, bool] })

/** RepositoryModelLoadRequest and RepositoryModelUnloadRequest. */
export const changeRequest = messageType({ model_name: [2, text] })

/** ServerMetadataResponse. */
export const serverMetadata = messageType({
  name: [1, text],
  version: [2, text],
  extensions: [3, strings],
})

const tensorInfo = messageType({ name: [1, text], datatype: [2, text], shape: [3, dims] })

const parameter = messageType({
  // A member of a oneof is written if it is false, too.
  bool_param: [
    1,
    {
      ...bool,
      write: (writer, number, is: boolean) => writer.tag(number, wireType.varint).bool(is),
    },
  ],
  int64_param: [2, { ...count, read: (reader) => Number(String(reader.int64())) }],
  string_param: [3, string],
  double_param: [4, { ...count, wires: [wireType.fixed64], read: (reader) => reader.double() }],
  uint64_param: [5, count],
})
const entry = messageType({ key: [1, text], value: [2, message(parameter)] })
/** An entry of a map of parameters. */
export type ParameterEntry = MessageOf<typeof entry>
const parameters = messages(entry, maxTensors, 'parameters')

const contents = messageType({
  bool_contents: [1, packed('bool')],
  int_contents: [2, packed('int32')],
  int64_contents: [3, packed('int64')],
  uint_contents: [4, packed('uint32')],
  uint64_contents: [5, packed('uint64')],
  fp32_contents: [6, packed('float32')],
  fp64_contents: [7, packed('float64')],
  bytes_contents: [8, byteLists],
})

/** One of them is filled. */
export type Contents = MessageOf<typeof contents>

const inferInput = messageType({
  name: [1, text],
  datatype: [2, text],
  shape: [3, dims],
  parameters: [4, parameters],
  contents: [5, message(contents)],
})

const inferOutput = messageType({ name: [1, text], parameters: [2, parameters] })

/** ModelInferRequest. */
export const inferRequest = messageType({
  model_name: [1, text],
  model_version: [2, text],
  id: [3, text],
  parameters: [4, parameters],
  inputs: [5, messages(inferInput, maxTensors, 'inputs')],
  outputs: [6, messages(inferOutput, maxTensors, 'outputs')],
  raw_input_contents: [7, byteLists],
})

/** ModelInferResponse. */
export const inferAnswer = messageType({
  model_name: [1, text],
  model_version: [2, text],
  id: [3, text],
  parameters: [4, parameters],
  outputs: [5, messages(tensorInfo, maxTensors, 'outputs')],
  raw_output_contents: [6, byteLists],
})

/** ModelStreamInferResponse. */
export const streamAnswer = messageType({
  error_message: [1, text],
  infer_response: [2, message(inferAnswer)],
})

/** ModelMetadataResponse. */
export const metadataAnswer = messageType({
  name: [1, text],
  versions: [2, strings],
  platform: [3, text],
  inputs: [4, messages(tensorInfo, maxTensors, 'inputs')],
  outputs: [5, messages(tensorInfo, maxTensors, 'outputs')],
})

const configNumbers = new Map<string, number>(
  Object.values(datatypes).map(({ config: [number, name] }) => [name, number]),
)
const dataType: FieldType<string> = {
  ...count,
  toJson: String,
  write: (writer, number, name: string) =>
    count.write(writer, number, (configNumbers.get(name) ?? 0) as never),
}

const input = messageType({
  name: [1, text],
  data_type: [2, dataType],
  dims: [4, dims],
  optional: [8, bool],
})
const output = messageType({
  name: [1, text],
  data_type: [2, dataType],
  dims: [3, dims],
})
const policy = messageType({ decoupled: [1, bool] })
const config = messageType({
  name: [1, text],
  platform: [2, text],
  max_batch_size: [4, count],
  input: [5, messages(input, maxTensors, 'inputs')],
  output: [6, messages(output, maxTensors, 'outputs')],
  backend: [17, text],
  model_transaction_policy: [19, message(policy)],
})

/** ModelConfigResponse. */
export const configAnswer = messageType({ config: [1, message(config)] })

const duration = message(messageType({ count: [1, count], ns: [2, count] }))
const inferences = messageType({
  success: [1, duration],
  fail: [2, duration],
  queue: [3, duration],
  compute_input: [4, duration],
  compute_infer: [5, duration],
  compute_output: [6, duration],
  cache_hit: [7, duration],
  cache_miss: [8, duration],
})
const batch = messageType({
  batch_size: [1, count],
  compute_input: [2, duration],
  compute_infer: [3, duration],
  compute_output: [4, duration],
})
const statistics = messageType({
  name: [1, text],
  version: [2, text],
  last_inference: [3, count],
  inference_count: [4, count],
  execution_count: [5, count],
  inference_stats: [6, message(inferences)],
  batch_stats: [7, messages(batch, maxModels, 'sizes of batches')],
})

/** ModelStatisticsResponse. */
export const statisticsAnswer = messageType({
  model_stats: [1, messages(statistics, maxModels, 'models')],
})

const indexEntry = messageType({
  name: [1, text],
  version: [2, text],
  state: [3, text],
  reason: [4, text],
})

/** RepositoryIndexResponse. */
export const indexAnswer = messageType({
  models: [1, messages(indexEntry, maxModels, 'models')],
})
