/** The option that says how agents see an API. @module */
import {
  fromCode,
  type OptionsOf,
  onOrOff,
  readOptions,
  type SettingsOf,
  text,
} from '../core/option.ts'
import { isRecord } from '../core/options.ts'

/** What clients may believe of a tool. They are hints: the server does not enforce them. */
export interface ToolAnnotations {
  /** It changes nothing. */
  readonly readOnlyHint?: boolean
  /** It may delete or overwrite. */
  readonly destructiveHint?: boolean
  /** A second call with the same arguments changes nothing more. */
  readonly idempotentHint?: boolean
  /** It asks systems outside the service. */
  readonly openWorldHint?: boolean
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']
const areHints = (value: unknown) =>
  isRecord(value) &&
  Object.entries(value).every(([name, hint]) => hints.includes(name) && typeof hint === 'boolean')

/** The options of an API for agents. */
export const mcpOptions = {
  /** A name for people. */
  title: text('<title>'),
  /** What clients may believe of the tool. */
  annotations: fromCode<ToolAnnotations>(`true or false for ${hints.join(', ')}`, areHints),
  /**
   * Offers it as a prompt, in place of a tool. Each part of its answer is a message of the user.
   *
   * @default false
   */
  prompt: onOrOff.or(false),
  /**
   * Where agents read what a GET API answers, with the `{parameters}` of its route.
   *
   * @default `serving://SERVICE/ROUTE`
   */
  uri: fromCode<string>(
    'a URI',
    (value) => typeof value === 'string' && /^[a-z][a-z\d+.-]*:/i.test(value),
  ),
}

/** How agents see an API. */
export interface McpOptions extends OptionsOf<typeof mcpOptions> {}

/** {@link McpOptions} with defaults. */
export interface McpSettings extends SettingsOf<typeof mcpOptions> {}

/** @returns undefined for an API that no agent sees. @throws InvalidArgument. */
export function parseMcp(place: string, given: false | McpOptions): McpSettings | undefined {
  return given === false ? undefined : readOptions(place, given, mcpOptions)
}
