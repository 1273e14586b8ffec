/** What the transports to a remote model have in common: requests, answers, errors. @module */

import type { ModelTensor } from '../../api/model-options.ts'
import { DeadlineExceeded, InternalError, Overloaded, ServingError } from '../../core/errors.ts'
import type { ModelCall } from '../../runner/model-host.ts'
import type { RemoteLife } from '../../runner/remote-options.ts'
import { datatypes, isDatatype } from './datatype.ts'
import type { Tensor } from './tensor.ts'

/** What servers call a model. */
export interface RemoteName {
  readonly model: string
  readonly version: string
}

/** Argument of a remote model's module. */
export interface RemoteInit extends RemoteName {
  /** `http://host:port` or `grpc://host:port`; several servers and addresses take turns. */
  readonly urls: readonly string[]
  readonly life: RemoteLife
}

/** The inputs and outputs of a model. */
export interface RemoteDescription {
  readonly inputs: readonly ModelTensor[]
  readonly outputs: readonly ModelTensor[]
}

/** gRPC omits empty values. */
export interface RemoteTensor {
  readonly name?: string
  readonly datatype?: string
  readonly shape?: readonly (number | string)[]
}

/** An unknown datatype becomes text. */
export function remoteInfo({ name = '', datatype, shape = [] }: RemoteTensor): ModelTensor {
  const dtype = isDatatype(datatype) ? datatypes[datatype] : 'str'
  return {
    name,
    dtype,
    datatype: datatype === 'BF16' ? datatype : undefined,
    shape: shape.map(Number),
  }
}

/**
 * One way to call a model's servers.
 *
 * @throws {@link Unsent} if no server has worked on the request.
 */
export interface RemoteTransport {
  infer(address: string, inputs: readonly Tensor[], call: ModelCall): Promise<readonly Tensor[]>
  describe(address: string): Promise<RemoteDescription>
  /** Rejects if there is no answer. */
  isReady(address: string): Promise<boolean>
  close?(): void
}

/** A failure before the server began to work: another one may be asked. */
export class Unsent extends Overloaded {}

/** Timeout of metadata and health. **Units**: milliseconds. */
export const shortMs = 5_000

/** @returns the error of an answer with that status. */
export function remoteError(status: number, message: string): ServingError {
  const text = `the remote model answered ${status}: ${message.slice(0, 500)}`
  if (status === 503 || status === 429) return new Unsent(text)
  if (status === 504) return new DeadlineExceeded(text)
  if (status >= 400 && status < 500) return new ServingError('bad_input', text, {}, { status })
  return new InternalError(text)
}

/** @returns the error for an answer in another format. */
export function badAnswer(cause: unknown): InternalError {
  return new InternalError('expected an answer of the Open Inference Protocol, received another', {
    cause,
  })
}
