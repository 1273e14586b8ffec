/**
 * Makes src/messages/gen from the .proto files here: `npm run gen`. With `--check`, only says whether it is up to date.
 *
 * `inference.ts`: the types of the messages of inference. `descriptors.ts`: the FileDescriptorProtos that the server's
 * reflection service answers with: of serving.v1, of the same messages under the names of bentoml.grpc.v1, of
 * inference, and of gRPC's own services.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const protobuf = require('protobufjs-8')
require('protobufjs-8/ext/descriptor')

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = readFileSync(at('serving/v1/serving.proto'), 'utf8')

const ownFile = (path) => [path, readFileSync(at(path), 'utf8')]
const [reflectionPath, reflection] = ownFile('grpc/reflection/v1/reflection.proto')

/** The file's own name in descriptors, and its text under another package and service. */
const variants = [
  ['serving/v1/serving.proto', source],
  [
    'bentoml/grpc/v1/service.proto',
    source
      .replace('package serving.v1;', 'package bentoml.grpc.v1;')
      .replace('service ServingService', 'service BentoService'),
  ],
  ownFile('inference/grpc_service.proto'),
  ownFile('grpc/health/v1/health.proto'),
  [reflectionPath, reflection],
  [
    reflectionPath.replace('v1', 'v1alpha'),
    reflection.replace('reflection.v1;', 'reflection.v1alpha;'),
  ],
]

function descriptorsOf(name, text) {
  const root = new protobuf.Root()
  const { package: packageName } = protobuf.parse(text, root, { keepCase: true })
  for (const known of ['struct', 'wrappers']) {
    const file = protobuf.common.get(`google/protobuf/${known}.proto`)
    root.addJSON(file.nested)
  }
  root.resolveAll()
  const { file } = root.toDescriptor('proto3')
  return file.map((each) => {
    // protobufjs names files after packages, and the well-known types are all in one.
    const isOwn = each.package === packageName
    each.name = isOwn ? name : 'google/protobuf/struct_and_wrappers.proto'
    each.dependency = isOwn ? [...text.matchAll(/^import "(.+)";/gm)].map(([, path]) => path) : []
    return each
  })
}

function wellKnown(name) {
  const root = new protobuf.Root()
  root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`).nested)
  root.resolveAll()
  const [file] = root.toDescriptor('proto3').file
  file.name = `google/protobuf/${name}.proto`
  return file
}

const { FileDescriptorProto } = require('protobufjs-8/ext/descriptor')
const files = [
  wellKnown('struct'),
  wellKnown('wrappers'),
  ...variants.flatMap(([name, text]) =>
    descriptorsOf(name, text).filter((file) => file.name === name),
  ),
]
/** protobufjs names the entries of maps after their fields; protoc adds `Entry`, which Go's runtime insists on. */
function nameMapEntries(message) {
  for (const field of message.field ?? []) {
    const entry = message.nestedType?.find(
      ({ name, options }) => options?.mapEntry && name === field.typeName,
    )
    if (entry === undefined) continue
    entry.name = `${field.name.replace(/(?:^|_)([a-z0-9])/g, (_, letter) => letter.toUpperCase())}Entry`
    field.typeName = entry.name
  }
}
for (const file of files) eachMessage(file, nameMapEntries)

/** protobufjs writes names as short as they can be; descriptors have them in full, with a dot in front. */
const known = new Set()
function eachMessage(file, visit) {
  const walk = (message, scope) => {
    const name = `${scope}.${message.name}`
    visit(message, name)
    for (const inner of [...(message.nestedType ?? []), ...(message.enumType ?? [])])
      walk(inner, name)
  }
  for (const message of [...(file.messageType ?? []), ...(file.enumType ?? [])])
    walk(message, `.${file.package}`)
}
for (const file of files) eachMessage(file, (_, name) => known.add(name))
for (const file of files) {
  eachMessage(file, (message, scope) => {
    for (const field of message.field ?? []) {
      // protoc fills it in, and readers of descriptors rely on it.
      field.jsonName = field.name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
      if (!field.typeName || field.typeName.startsWith('.')) continue
      let at = scope
      while (at !== '' && !known.has(`${at}.${field.typeName}`))
        at = at.slice(0, at.lastIndexOf('.'))
      field.typeName = `${at}.${field.typeName}`
    }
  })
}
/** Returns the full names of what a file declares, for those who ask which file declares one. */
function symbolsOf(file) {
  const symbols = []
  eachMessage(file, (_, name) => symbols.push(name.slice(1)))
  for (const { name, method } of file.service ?? []) {
    const service = `${file.package}.${name}`
    symbols.push(service, ...method.map((each) => `${service}.${each.name}`))
  }
  return symbols
}
const entries = files.map((file) => {
  const base64 = Buffer.from(FileDescriptorProto.encode(file).finish()).toString('base64')
  const imports = file.dependency ?? []
  const services = (file.service ?? []).map(({ name }) => `${file.package}.${name}`)
  return `  ${JSON.stringify({ name: file.name, imports, services, symbols: symbolsOf(file), base64 })},`
})
const descriptors = `// Generated by proto/generate.mjs from the .proto files of proto. Do not edit.

/** A .proto file; \`base64\`: its FileDescriptorProto. */
export interface DescriptorFile {
  readonly name: string
  readonly imports: readonly string[]
  /** Full names. */
  readonly services: readonly string[]
  /** Full names of messages, enumerations, services and methods. */
  readonly symbols: readonly string[]
  readonly base64: string
}

/** Each behind those that it imports. */
export const fileDescriptors: readonly DescriptorFile[] = [
${entries.join('\n')}
]
`

// Names of src/messages/field-types.ts and of its packed kinds, by protobuf's numbers of types.
const oneofTypes = { 1: 'double', 3: 'int64', 4: 'count', 8: 'anyBool', 9: 'string', 12: 'bytes' }
const singleTypes = { 4: 'count', 5: 'count', 8: 'bool', 9: 'text' }
const repeatedTypes = { 9: 'strings', 12: 'byteLists' }
const packedKinds = {
  1: 'float64',
  2: 'float32',
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  8: 'bool',
  13: 'uint32',
}
const [repeated, ofMessage, ofEnum] = [3, 11, 14]

/** Returns the types of a file's messages, each behind those of its fields. */
function messageTypesOf(file) {
  const declared = new Map()
  eachMessage(file, (message, name) => declared.set(name, message))
  const written = new Map()
  const declarations = []
  const constantOf = (name) => {
    if (!written.has(name)) {
      const words = name.slice(file.package.length + 2).replaceAll('.', '')
      written.set(name, words[0].toLowerCase() + words.slice(1))
      const fields = declared
        .get(name)
        .field.map((field) => `  ${field.name}: [${field.number}, ${typeOf(field)}],\n`)
      declarations.push(
        `/** ${name.slice(1)}. */\nexport const ${written.get(name)} = messageType({\n${fields.join('')}})\n`,
      )
    }
    return written.get(name)
  }
  const typeOf = (field) => {
    const { name, type, label, typeName } = field
    if (type === ofEnum)
      return `enumName(${JSON.stringify(declared.get(typeName).value.map((each) => each.name))})`
    const constant = type === ofMessage && constantOf(typeName)
    if (label !== repeated)
      return constant
        ? `message(${constant})`
        : (Object.hasOwn(field, 'oneofIndex') ? oneofTypes : singleTypes)[type]
    if (constant) return `messages(${constant}, maxMessages, '${name}')`
    if (/^(shape|dims)$/.test(name)) return `shape('${packedKinds[type]}', maxShape)`
    return repeatedTypes[type] ?? `packed('${packedKinds[type]}')`
  }
  for (const [name, { field = [] }] of declared) if (field.length > 0) constantOf(name)
  return declarations.join('\n')
}

const messageTypes = `// Generated by proto/generate.mjs from proto/inference. Do not edit.
import {
  anyBool,
  bool,
  byteLists,
  bytes,
  count,
  double,
  enumName,
  int64,
  packed,
  shape,
  string,
  strings,
  text,
} from '../field-types.ts'
import { message, messages, messageType } from '../message-type.ts'

// Of one field that is repeated.
const maxMessages = 1000
// Some more than tensors have: the error for those names the tensor.
const maxShape = 640

${messageTypesOf(files.find(({ name }) => name === 'inference/grpc_service.proto'))}`

for (const [name, text] of [
  ['descriptors.ts', descriptors],
  ['inference.ts', messageTypes],
]) {
  const path = at(`../src/messages/gen/${name}`)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(
      `src/messages/gen/${name} is not what proto/generate.mjs makes: run \`npm run gen\`\n`,
    )
    process.exitCode = 1
  }
}
