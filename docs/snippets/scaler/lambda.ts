import svc from './scaler.ts'

/** An event of a function URL, or of an HTTP API with payload format 2.0. */
export interface HttpEvent {
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Readonly<Record<string, string>>
  readonly cookies?: readonly string[]
  readonly requestContext: { readonly http: { readonly method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

export async function handler(event: HttpEvent) {
  const { rawPath, rawQueryString, cookies, requestContext, body, isBase64Encoded } = event
  const answer = await svc.inject({
    path: rawQueryString === '' ? rawPath : `${rawPath}?${rawQueryString}`,
    method: requestContext.http.method,
    headers: { ...event.headers, ...(cookies && { cookie: cookies.join('; ') }) },
    ...(body && { body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') }),
  })
  const lines = [...answer.headers]
  return {
    statusCode: answer.status,
    headers: Object.fromEntries(lines.filter(([name]) => name !== 'set-cookie')),
    cookies: lines.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : [])),
    body: Buffer.from(answer.body).toString('base64'),
    isBase64Encoded: true,
  }
}
