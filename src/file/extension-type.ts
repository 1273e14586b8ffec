/**
 * Media types by file extension, for formats whose bytes do not tell them.
 * @module
 */

// Binary formats are recognised by their first bytes; these are texts and formats without a signature.
const types: Readonly<Record<string, string>> = {
  bin: 'application/octet-stream',
  css: 'text/css',
  csv: 'text/csv',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  md: 'text/markdown',
  mjs: 'text/javascript',
  npy: 'application/x-npy',
  onnx: 'application/octet-stream',
  pb: 'application/octet-stream',
  pdf: 'application/pdf',
  svg: 'image/svg+xml',
  toml: 'application/toml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** The media type that a file's name tells; undefined without a known extension. **Source**: IANA media types. */
export function extensionType(name: string): string | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return name.includes('.') && Object.hasOwn(types, extension) ? types[extension] : undefined
}
