import { BadInput, NotFound, show } from '../../core/errors.ts'
import { fromCode, listOf, type OptionsOf, type SettingsOf } from '../../core/option.ts'
import type { File } from '../../descriptors/file.ts'
import type { Image } from '../../descriptors/image.ts'
import type { OpenAiModel } from './method-types.ts'

/** The methods of a model. */
export const methodNames = ['chat', 'generate', 'embed', 'rerank', 'transcribe'] as const
/** See {@link methodNames}. */
export type MethodName = (typeof methodNames)[number]

/** What a model may accept beside one text. */
export const acceptable = [
  'tools',
  'response_format',
  'images',
  'audio',
  'files',
  'n',
  'logprobs',
  'tokens',
  'echo',
  'suffix',
] as const

/** Something that a model may accept beside one text: see `accepts` of {@link ServedModel}. */
export type Accepted = (typeof acceptable)[number]

function isModel(given: unknown): boolean {
  const runner = Object(given)
  const has = (name: string) => typeof runner[name] === 'function'
  return has('start') && methodNames.some(has)
}

/** The options of a model. */
export const modelOptions = {
  runner: fromCode<OpenAiModel>(
    `a Runner with a method ${methodNames.join(', ')}`,
    isModel,
  ).required(),
  /**
   * The server refuses all other members and parts, and names them. `images`, `audio` and `files`: parts of messages,
   * decoded. `tokens`: prompts and inputs that are lists of tokens. `n`: the server calls the model as often.
   *
   * @default nothing
   */
  accepts: listOf<Accepted>(`a list of ${acceptable.join(', ')}`, (each) =>
    acceptable.some((known) => known === each),
  ).or([]),
}

/** A model, and what it accepts. */
export interface ServedModel extends OptionsOf<typeof modelOptions> {}

/** A model by its name, with what decodes the parts that it accepts. */
export interface Model {
  readonly name: string
  readonly runner: OpenAiModel
  readonly accepts: ReadonlySet<Accepted>
  readonly image?: Image
  readonly file?: File
}

/** The models of a service by name. */
export type Models = ReadonlyMap<string, Model>

/**
 * @returns a model that is ready for requests.
 * @throws MissingDependencyException if it accepts pictures and nothing decodes them.
 */
export async function modelOf(
  name: string,
  { runner, accepts: list }: SettingsOf<typeof modelOptions>,
): Promise<Model> {
  const accepts = new Set(list)
  const takesFiles = accepts.has('audio') || accepts.has('files')
  return {
    name,
    runner,
    accepts,
    ...(accepts.has('images') && {
      image: new (await import('../../descriptors/image.ts')).Image(),
    }),
    ...(takesFiles && { file: new (await import('../../descriptors/file.ts')).File() }),
  }
}

/** @returns the names of the models that have a method. */
export function modelsWith(models: Models, method: MethodName): readonly string[] {
  return [...models.values()]
    .filter(({ runner }) => runner[method] !== undefined)
    .map(({ name }) => name)
}

/** @throws NotFound for an unknown model; BadInput for one without the method. */
export function methodOf<N extends MethodName>(
  models: Models,
  name: unknown,
  method: N,
): { readonly model: Model; readonly call: NonNullable<OpenAiModel[N]> } {
  const model = findModel(models, name)
  const call = model.runner[method]
  if (call !== undefined)
    return { model, call: call.bind(model.runner) as NonNullable<OpenAiModel[N]> }
  const having = modelsWith(models, method)
  const what =
    having.length === 0 ? `no model here can ${method}` : `expected one of ${having.join(', ')}`
  throw new BadInput(`${what} for model, received ${show(name)}, which cannot ${method}`, {
    path: 'model',
  })
}

/** @throws NotFound. */
export function findModel(models: Models, name: unknown): Model {
  const model = models.get(name as string)
  if (model !== undefined) return model
  const message = `expected one of ${[...models.keys()].join(', ')} for model, received ${show(name)}`
  throw new NotFound(message, { path: 'model' }, { code: 'model_not_found' })
}
