/** The metadata of a server and its models in the protocol's JSON, also for gRPC. @module */
import { datatypes } from './datatype.ts'
import type { Model, ModelDescription } from './model.ts'
import type { TensorInfo } from './tensor-info.ts'

/** Names of the extensions that the server has. */
export const extensions: readonly string[] = [
  'classification',
  'model_repository',
  'model_configuration',
  'binary_tensor_data',
  'parameters',
  'statistics',
  'generate',
]

function tensorMetadata({ name, datatype, shape }: TensorInfo) {
  return { name, datatype, shape }
}

/** @returns the metadata of a model. */
export function modelMetadata(
  model: Model,
  versions: readonly string[],
  description: ModelDescription,
) {
  return {
    name: model.name,
    versions,
    platform: description.platform,
    inputs: description.inputs.map(tensorMetadata),
    outputs: description.outputs.map(tensorMetadata),
  }
}

/** Triton's ModelConfig. `dims` of batched models leave out the rows. */
export function modelConfig(model: Model, description: ModelDescription) {
  const { platform, maxBatchSize, inputs, outputs, isStream } = description
  const tensor = ({ name, datatype, shape }: TensorInfo) => ({
    name,
    data_type: datatypes[datatype].config[1],
    dims: shape.slice(Number(maxBatchSize > 0)),
    is_shape_tensor: false,
  })
  return {
    name: model.name,
    platform,
    backend: platform === 'serving' ? 'serving' : 'onnxruntime',
    version_policy: { latest: { num_versions: 1 } },
    max_batch_size: maxBatchSize,
    input: inputs.map((info) => ({
      ...tensor(info),
      format: 'FORMAT_NONE',
      allow_ragged_batch: false,
      optional: info.isOptional === true,
    })),
    output: outputs.map((info) => ({ ...tensor(info), label_filename: '' })),
    instance_group: [],
    parameters: {},
    model_transaction_policy: { decoupled: isStream },
  }
}
