/** The option that says how agents see an API. @module */
import {
  fromCode,
  Option,
  type OptionsOf,
  onOrOff,
  readOptions,
  type SettingsOf,
  text,
} from '../core/option.ts'

const hints = {
  /** It changes nothing. */
  readOnlyHint: onOrOff,
  /** It may delete or overwrite. */
  destructiveHint: onOrOff,
  /** A second call with the same arguments changes nothing more. */
  idempotentHint: onOrOff,
  /** It asks systems outside the service. */
  openWorldHint: onOrOff,
}

/** What clients may believe of a tool. They are hints: the server does not enforce them. */
export interface ToolAnnotations extends OptionsOf<typeof hints> {}

/** The options of an API for agents. */
export const mcpOptions = {
  /** A name for people. */
  title: text('<title>'),
  /** What clients may believe of the tool. */
  annotations: new Option<ToolAnnotations>({
    read: (place, value) => readOptions(place, value as ToolAnnotations, hints),
  }),
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
