/** Media types by file extension. @module */
import mime from 'mime'

// What models and their data come in; the package knows registered types only.
const own: Readonly<Record<string, string>> = {
  arrow: 'application/vnd.apache.arrow.file',
  arrows: 'application/vnd.apache.arrow.stream',
  feather: 'application/vnd.apache.arrow.file',
  jsonl: 'application/jsonl',
  ndjson: 'application/x-ndjson',
  npy: 'application/x-npy',
  npz: 'application/x-npz',
  onnx: 'application/octet-stream',
  parquet: 'application/vnd.apache.parquet',
  pb: 'application/octet-stream',
  py: 'text/x-python',
  safetensors: 'application/octet-stream',
  toml: 'application/toml',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/**
 * Returns the media type for the extension of a file's name; undefined for an unknown one.
 * **Source**: the package mime, made from mime-db: IANA, Apache and nginx.
 */
export function extensionType(name: string): string | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (!name.includes('.')) return undefined
  return Object.hasOwn(own, extension) ? own[extension] : (mime.getType(extension) ?? undefined)
}
