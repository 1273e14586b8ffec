/** The environment variables of the options. @module */
import { didYouMean } from './nearest-word.ts'
import { optionNames, variableOf } from './option-table.ts'

/** Variables that are no options of the command: of builds, of the native add-ons and of Python. */
const otherVariables = [
  'SERVING_ENGINE_CHECKED',
  'SERVING_NATIVE',
  'SERVING_NATIVE_PATH',
  'SERVING_PYTHON',
  'SERVING_PYTHON_PACKAGES',
]

// What Kubernetes sets in every pod for a Service named `serving` or `serving-x`:
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
const kubernetes =
  /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/

/**
 * @returns the names of variables that only look like our settings: those with empty values, which
 * deployment tools write for "not set", and `SERVING_PORT=tcp://...` and its companions, which
 * Kubernetes sets in every pod beside a Service that is named `serving`.
 */
export function foreignVariables(environment: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('SERVING_'))
  return names.filter(
    (name) =>
      kubernetes.test(name) || /^(?:\s*|(?:tcp|udp|sctp):\/\/.*)$/.test(environment[name] ?? ''),
  )
}

/**
 * @returns a message for the first variable that is misspelled: named `SERVING_`, and no setting of
 * ours.
 */
export function unknownVariable(environment: NodeJS.ProcessEnv): string | undefined {
  const known = [...optionNames.map(variableOf), ...otherVariables]
  const foreign = foreignVariables(environment)
  const name = Object.keys(environment).find(
    (each) => each.startsWith('SERVING_') && !known.includes(each) && !foreign.includes(each),
  )
  return name === undefined
    ? undefined
    : `unknown environment variable ${name}${didYouMean(name, known)}`
}
