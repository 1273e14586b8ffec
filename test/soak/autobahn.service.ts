/** A live stream that sends back what it gets: text as text, bytes as bytes. */
import { type HttpRequest, type HttpResponse, io, Service } from '../../src/index.ts'

class Raw extends io.IODescriptor<string | Uint8Array> {
  readonly mimeType = 'application/octet-stream'

  protected override formats() {
    const formats = [{ mimeType: this.mimeType }, { mimeType: 'text/plain' }]
    return { input: formats, output: formats }
  }

  fromHttpRequest({ headers, body }: HttpRequest): string | Uint8Array {
    return headers.get('content-type') === 'text/plain' ? Buffer.from(body).toString() : body
  }

  toHttpResponse(body: string | Uint8Array): HttpResponse {
    return {
      headers: [['content-type', typeof body === 'string' ? 'text/plain' : this.mimeType]],
      body,
    }
  }
}

const svc = new Service('autobahn')
const limits = { maxMessage: '32mb', maxBuffered: '32mb' }
svc.live('echo', { input: new Raw(), output: new Raw(), ...limits }, async function* (inputs) {
  yield* inputs
})

export default svc
