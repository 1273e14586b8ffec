/**
 * Walks the declarations of a built package from its entry points.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** A declaration, by the file and the name that it has there. */
interface Place {
  readonly file: string
  readonly name: string
}

/** A file of declarations. */
interface DeclarationFile {
  /** Text of each declaration without comments, by name; several of an overloaded function. */
  readonly declared: ReadonlyMap<string, string>
  /** Names that it imports or re-exports from relative files. */
  readonly borrowed: ReadonlyMap<string, Place>
  readonly exported: ReadonlyMap<string, Place>
  /** Modules of `export * as name`. */
  readonly namespaces: readonly string[]
  readonly namespaceNames: readonly string[]
}

/** Types that occur in public declarations and that no entry point exports, each with the declarations that use it. */
export function hiddenTypes(entries: readonly string[]): Map<string, string[]> {
  const files = new Map<string, DeclarationFile>()
  const read = (file: string) => {
    const known = files.get(file) ?? parse(file)
    files.set(file, known)
    return known
  }
  const home = (place: Place): Place => {
    const next =
      read(place.file).borrowed.get(place.name) ?? read(place.file).exported.get(place.name)
    return next === undefined || (next.file === place.file && next.name === place.name)
      ? place
      : home(next)
  }
  const key = ({ file, name }: Place) => `${file}#${name}`
  const open: Place[] = []
  const collect = (file: string) => {
    const { exported, namespaces } = read(file)
    for (const place of exported.values()) open.push(home(place))
    for (const module of namespaces) collect(module)
  }
  for (const entry of entries) collect(entry)
  const known = new Set(open.map(key))
  const hidden = new Map<string, string[]>()
  const seen = new Set<string>()
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (seen.has(key(place))) continue
    seen.add(key(place))
    const { declared, borrowed } = read(place.file)
    for (const name of new Set(declared.get(place.name)?.match(/[A-Za-z_$][\w$]*/g))) {
      if (name === place.name || !(declared.has(name) || borrowed.has(name))) continue
      const target = home({ file: place.file, name })
      const text = read(target.file).declared.get(target.name) ?? ''
      // What a class of ours extends is a constant of the compiler's. Types that no module exports are part of the
      // declarations that use them: nobody else can name them either.
      if (/^(declare const \w+_base\b|type |interface )/.test(text)) open.push(target)
      else if (
        /^export (declare )?(abstract )?(interface|type|class|enum) /.test(text) &&
        !known.has(key(target))
      ) {
        hidden.set(target.name, [...(hidden.get(target.name) ?? []), place.name])
      }
    }
  }
  return hidden
}

/** Returns the names that an entry point of a built package exports, those of its namespaces with a dot. */
export function exportedNames(entry: string): string[] {
  const { exported, namespaces, namespaceNames } = parse(entry)
  const inside = namespaces.flatMap((module, index) =>
    exportedNames(module).map((name) => `${namespaceNames[index]}.${name}`),
  )
  return [...exported.keys(), ...namespaceNames, ...inside].toSorted()
}

function parse(file: string): DeclarationFile {
  const declared = new Map<string, string>()
  const borrowed = new Map<string, Place>()
  const exported = new Map<string, Place>()
  const namespaces: string[] = []
  const namespaceNames: string[] = []
  const source = (module: string) => {
    const path = resolve(dirname(file), module.replace(/\.[tj]s$/, '.d.ts'))
    return existsSync(path) ? path : undefined
  }
  const names = (list: string) =>
    list.split(',').map((entry) => {
      const [from, to] = entry
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      return { from, to: to ?? from }
    })
  for (const statement of statements(readFileSync(file, 'utf8'))) {
    const list = /^(import|export) (?:type )?\{([^}]*)\}(?: from ['"]([^'"]+)['"])?/.exec(statement)
    if (list !== null) {
      const module = list[3] === undefined ? file : source(list[3])
      for (const { from, to } of names(list[2])) {
        if (module === undefined || from === '') continue
        const place = { file: module, name: from }
        if (list[1] === 'import') borrowed.set(to, place)
        else exported.set(to, place)
      }
      continue
    }
    const all = /^export \* from ['"]([^'"]+)['"]/.exec(statement)
    if (all !== null) {
      const whole = parse(source(all[1]) as string)
      for (const [name, place] of whole.exported) exported.set(name, place)
      namespaces.push(...whole.namespaces)
      namespaceNames.push(...whole.namespaceNames)
      continue
    }
    const star = /^export \* as (\w+) from ['"]([^'"]+)['"]/.exec(statement)
    if (star !== null) {
      namespaceNames.push(star[1])
      namespaces.push(source(star[2]) as string)
    }
    const name =
      /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum|const|let|function) ([\w$]+)/.exec(
        statement,
      )?.[1]
    if (name === undefined) continue
    declared.set(name, `${declared.get(name) ?? ''}${statement}`)
    if (statement.startsWith('export ')) exported.set(name, { file, name })
  }
  return { declared, borrowed, exported, namespaces, namespaceNames }
}

/** Top-level statements without comments and texts. The compiler begins each at the start of a line. */
function statements(text: string): string[] {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
  return plain
    .split(/\n(?=(?:import|export|declare|interface|type|abstract)\b)/)
    .map((each) => each.trim())
}
