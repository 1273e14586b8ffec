/** A parsed Content-Disposition. */
export interface ContentDisposition {
  readonly type: string
  readonly name: string | undefined
  /** Without directories (RFC 7578 section 4.2); empty if the user chose no file. */
  readonly filename: string | undefined
}

const tokenCharacters = "[!#$%&'*+\\-.^_`|~0-9a-zA-Z]"
const typeShape = new RegExp(`^${tokenCharacters}+`)
const escaped = String.raw`"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"`
const literal = '"([^"]*)"'
const parameterWith = (quoted: string) =>
  new RegExp(
    `[ \\t]*;[ \\t]*(${tokenCharacters}+)[ \\t]*=[ \\t]*(?:${quoted}|([^;"]*))[ \\t]*`,
    'gy',
  )
// curl and Python write \" for a quote; browsers write %22 and do not escape a backslash.
const dialects = [parameterWith(escaped), parameterWith(literal)]

// Nearly every part's value, which all dialects read alike.
const plainForm = /^form-data; name="([^"\\%]*)"(?:; filename="([^"\\%]*)")?$/

/** @returns undefined for a malformed value and for one that repeats a parameter. */
export function parseContentDisposition(value: string): ContentDisposition | undefined {
  const plain = plainForm.exec(value)
  if (plain !== null) {
    const [, name, filename] = plain
    return { type: 'form-data', name, filename: baseName(filename) }
  }
  const type = typeShape.exec(value)?.[0]
  if (type === undefined) return undefined
  for (const [index, dialect] of dialects.entries()) {
    const parameters = parseParameters(value, type.length, dialect, index === 0)
    if (parameters === undefined) continue
    return {
      type: type.toLowerCase(),
      name: parameters.get('name*') ?? parameters.get('name'),
      filename: baseName(parameters.get('filename*') ?? parameters.get('filename')),
    }
  }
  return undefined
}

function parseParameters(
  value: string,
  start: number,
  dialect: RegExp,
  unescape: boolean,
): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  const seen = new Set<string>()
  let at = start
  while (at < value.length) {
    dialect.lastIndex = at
    const match = dialect.exec(value)
    if (match === null) {
      const rest = value.slice(at).trim()
      return rest === '' || rest === ';' ? parameters : undefined
    }
    at = dialect.lastIndex
    const name = match[1].toLowerCase()
    // Of two equal names, some parsers take the first, others the last.
    if (seen.has(name)) return undefined
    seen.add(name)
    const quoted = match[2]
    const text =
      quoted === undefined
        ? match[3].trimEnd()
        : fromForm(unescape ? quoted.replace(/\\(["\\])/g, '$1') : quoted)
    const decoded = name.endsWith('*') ? decodeExtended(text) : text
    if (decoded !== undefined) parameters.set(name, decoded)
  }
  return parameters
}

// Decodes only what the WHATWG form encodes; a percent sign is not encoded.
function fromForm(text: string): string {
  return text.replace(/%22|%0d|%0a/gi, decodeURIComponent)
}

/**
 * Decodes `UTF-8'en'na%C3%AFve`; undefined if malformed.
 *
 * @see RFC 8187.
 */
function decodeExtended(value: string): string | undefined {
  const match = /^(utf-8|iso-8859-1)'[^']*'((?:%[0-9a-f]{2}|[!#$&+\-.^_`|~0-9a-z])*)$/i.exec(value)
  if (match === null) return undefined
  const percent = match[2]
  if (match[1].toLowerCase() !== 'utf-8')
    return percent.replace(/%(..)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  try {
    return decodeURIComponent(percent)
  } catch {
    return undefined
  }
}

function baseName(path: string | undefined): string | undefined {
  const name = path?.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  return name === '.' || name === '..' ? '' : name
}

/**
 * Escapes a name for a part's header.
 *
 * @see WHATWG HTML, "multipart/form-data encoding algorithm".
 */
export function escapeFormName(name: string): string {
  return name.replace(/["\r\n]/g, encodeURIComponent)
}

/** @see RFC 6266 section 5, RFC 8187. */
export function encodeContentDisposition(type: 'inline' | 'attachment', filename: string): string {
  // Readers disagree on escaped quotes and on percent signs.
  const plain = filename.replace(/[^ -~]|["\\%]/gu, '_')
  if (plain === filename) return `${type}; filename="${plain}"`
  const extended = encodeURIComponent(filename.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${type}; filename="${plain}"; filename*=UTF-8''${extended}`
}
