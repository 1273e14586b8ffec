import { SetupError } from '../errors.ts'
import type * as node from './optional.ts'

/**
 * Nothing is loaded at run time outside of Node.
 *
 * @throws SetupError.
 */
export const loadOptional: typeof node.loadOptional = (name, _version, user) => {
  throw new SetupError(
    'invalid_argument',
    `${user} needs the package ${name}, which only Node can load`,
  )
}
