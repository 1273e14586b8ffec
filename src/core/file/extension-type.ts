import mime from 'mime'

// Types of models and their data that mime does not know; then also those that were asked for.
const known = new Map(
  Object.entries({
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
  }),
)

/**
 * @returns the media type for a file name's extension; undefined for an unknown one.
 * @see mime-db.
 */
export function extensionType(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  if (dot === -1) return undefined
  const extension = name.slice(dot + 1).toLowerCase()
  const type = known.get(extension) ?? mime.getType(extension) ?? undefined
  if (type !== undefined) known.set(extension, type)
  return type
}
