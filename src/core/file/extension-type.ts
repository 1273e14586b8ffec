import other from 'mime/types/other.js'
import standard from 'mime/types/standard.js'

// Types of models and their data that mime does not know; those of mime once one is asked for, since reading them takes
// milliseconds of a start.
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

const ours = known.size

function addTypesOfMime(): void {
  // With a star where another type is the usual one.
  for (const [type, extensions] of Object.entries({ ...standard, ...other }))
    for (const extension of extensions)
      if (!extension.startsWith('*') && !known.has(extension)) known.set(extension, type)
}

/**
 * @returns the media type for a file name's extension; undefined for an unknown one.
 * @see mime-db.
 */
export function extensionType(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  if (dot === -1) return undefined
  const extension = name.slice(dot + 1).toLowerCase()
  if (!known.has(extension) && known.size === ours) addTypesOfMime()
  return known.get(extension)
}
