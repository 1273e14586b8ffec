/** The metadata of a server and its models in the protocol's JSON, also for gRPC. @module */
import { packageVersion } from '../../core/package-version.ts'
import { configName } from './datatype.ts'
import { describeModel } from './inference.ts'
import type { Models } from './models.ts'
import type { TensorInfo } from './tensor-info.ts'

/** The metadata of the server, with the names of its extensions. */
export const serverMetadata = {
  name: 'serving',
  version: packageVersion,
  extensions: [
    'classification',
    'model_repository',
    'model_configuration',
    'binary_tensor_data',
    'parameters',
    'statistics',
    'generate',
  ],
}

function tensorMetadata({ name, datatype, shape }: TensorInfo) {
  return { name, datatype, shape }
}

/**
 * @returns the metadata of a model.
 * @throws NotFound; Overloaded while it is not ready.
 */
export async function modelMetadata(models: Models, asked?: string, version?: string) {
  const model = models.find(asked, version)
  const { platform, inputs, outputs } = await describeModel(model)
  const { name } = model
  const versions = models.versions(name)
  const both = { inputs: inputs.map(tensorMetadata), outputs: outputs.map(tensorMetadata) }
  return { name, versions, platform, ...both }
}

/**
 * @returns Triton's ModelConfig. `dims` of batched models leave out the rows.
 * @throws as {@link modelMetadata}.
 */
export async function modelConfig(models: Models, asked?: string, version?: string) {
  const model = models.find(asked, version)
  const { platform, maxBatchSize, inputs, outputs, isStream } = await describeModel(model)
  const tensor = ({ name, datatype, shape }: TensorInfo) => ({
    name,
    data_type: configName(datatype),
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
