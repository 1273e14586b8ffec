/** A request for an inference, from whichever transport it came. @module */
import { BadInput, badInput, expected } from '../../core/errors.ts'
import type { RequestParameters } from '../../http/context.ts'
import { maxClasses } from './limits.ts'
import { shown, type Tensor } from './tensor.ts'

/** Length of the JSON in front of the binary tensors. */
export const lengthHeader = 'inference-header-content-length'

/** 64-bit integers of gRPC are numbers here, rounded beyond ±2^53. */
export type Parameters = RequestParameters

/** An output that a client asks for. */
export interface RequestedOutput {
  readonly name: string
  /**
   * Whether its elements are sent in binary form.
   *
   * @default the request's
   */
  readonly binary: boolean | undefined
  readonly classes: number
}

/** A request whose tensors were read. */
export interface InferRequest {
  readonly id: string
  readonly parameters: Parameters
  readonly inputs: readonly Tensor[]
  readonly outputs: readonly RequestedOutput[] | undefined
}

/** The parameters of a request without parameters. */
export const noParameters: Parameters = Object.freeze({})

/**
 * `name`: of the input or output.
 *
 * @throws BadInput.
 */
export function parseParameters(value: unknown, what: string, name?: unknown): Parameters {
  if (value === undefined || value === null) return noParameters
  const place = () => (typeof name === 'string' ? `${what} ${shown(name)}` : what)
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badInput('schema', expected('an object', `parameters of ${place()}`, value))
  }
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean') continue
    const parameter = `parameter ${shown(key)} of ${place()}`
    throw badInput('schema', expected('a string, a number or a boolean', parameter, each))
  }
  return value as Parameters
}

/**
 * @returns an output as its parameters ask for it.
 * @throws BadInput.
 */
export function requestedOutput(name: unknown, parameters: Parameters): RequestedOutput {
  if (typeof name !== 'string' || name === '')
    throw badInput('schema', expected('a name', 'an output', name))
  const { binary_data: binary, classification = 0 } = parameters
  const classes = Number(classification)
  if (!Number.isSafeInteger(classes) || classes < 0 || classes > maxClasses) {
    const [what, place] = [
      `a whole number up to ${maxClasses}`,
      `classification of output ${shown(name)}`,
    ]
    throw badInput('schema', expected(what, place, classification))
  }
  return { name, binary: typeof binary === 'boolean' ? binary : undefined, classes }
}

/** @throws BadInput unless names differ. */
export function requireDistinct(named: readonly { readonly name: string }[], what: string): void {
  if (named.length < 2) return
  const names = new Set<string>()
  for (const { name } of named) {
    if (names.has(name))
      throw new BadInput(`expected ${what} ${shown(name)} once, received it twice`, { path: name })
    names.add(name)
  }
}
