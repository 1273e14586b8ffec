import { createHash } from 'node:crypto'
import { type Context, type HttpRequest, type HttpResponse, io, type RequestHeaders } from 'serving'

interface Digest {
  readonly sha256: string
}

/** Reads a body of any size without holding it. */
export class DigestOf extends io.IODescriptor<Digest> {
  readonly mimeType = 'application/octet-stream'

  fromHttpRequest(request: HttpRequest): Digest {
    return { sha256: createHash('sha256').update(request.peek()).digest('hex') }
  }

  toHttpResponse(digest: Digest): HttpResponse {
    return { headers: [['content-type', 'text/plain']], body: digest.sha256 }
  }

  override receive(_headers: RequestHeaders, _ctx: Context): io.BodyReceiver<Digest> {
    const hash = createHash('sha256')
    return {
      write: (piece) => void hash.update(piece), // valid during this call only; a promise pauses the socket
      end: () => ({ sha256: hash.digest('hex') }),
      abort: () => {}, // the client went away, or the server refused the request
    }
  }
}
