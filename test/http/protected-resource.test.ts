/** Where clients learn who issues tokens for a service (RFC 9728), by the client of MCP's SDK. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { InvalidArgument, io, Service } from 'serving'
import { jwt } from 'serving/auth'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bothEngines } from '../engines.ts'
import { start } from '../rpc/harness.ts'

const issuer = 'https://login.example.org'
const path = '/.well-known/oauth-protected-resource/v1/mcp'
const json = { input: new io.JSON(), output: new io.JSON() }

async function keys() {
  const pair = await generateKeyPair('ES256')
  const directory = mkdtempSync(join(tmpdir(), 'serving-resource-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const jwks = join(directory, 'jwks.json')
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' }
  writeFileSync(jwks, JSON.stringify({ keys: [key] }))
  const tokenFor = (aud: string, scope: string) =>
    new SignJWT({ sub: 'ann', iss: issuer, aud, scope, exp: Math.floor(Date.now() / 1000) + 60 })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(pair.privateKey)
  return { jwks, tokenFor }
}

describe.each(bothEngines)('a protected resource on %s', (engine) => {
  it('tells clients without a token where to get one', async () => {
    const { jwks, tokenFor } = await keys()
    const resource = 'https://shop.example/v1/mcp'
    const auth = jwt({ jwks, issuer, resource, scopes: ['read'] })
    const svc = new Service('shop', { mcp: true, auth })
    svc.api({ ...json, name: 'stock' }, () => 7)
    const listener = await start(svc, { engine, baseUrl: '/v1' })
    onTestFinished(() => listener.close())
    const base = `http://127.0.0.1:${listener.port}`
    const ask = (token?: string) =>
      fetch(`${base}/v1/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
    const resourceMetadataUrl = new URL(path, 'https://shop.example')
    const told = async (token?: string) => {
      const answer = await ask(token)
      return [answer.status, extractWWWAuthenticateParams(answer)]
    }
    expect(await told()).toEqual([401, { resourceMetadataUrl, scope: 'read' }])
    const wrong = { resourceMetadataUrl, scope: 'read', error: 'invalid_token' }
    expect(await told('x')).toEqual([401, wrong])
    expect(await told(await tokenFor('https://other.example', 'read'))).toEqual([401, wrong])
    expect(await told(await tokenFor(resource, 'write'))).toEqual([
      403,
      { ...wrong, error: 'insufficient_scope' },
    ])
    expect((await ask(await tokenFor(resource, 'read'))).status).toBe(200)
    const metadata = {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['read'],
    }
    expect(
      await discoverOAuthProtectedResourceMetadata(base, { resourceMetadataUrl: `${base}${path}` }),
    ).toEqual(metadata)
    const page = await fetch(`${base}${path}`)
    expect(page.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('is told of by services without agents, too, and of no others', async () => {
    const { jwks } = await keys()
    const svc = new Service('shop')
    const auth = jwt({ jwks, issuer, audience: 'shop', resource: 'https://shop.example' })
    svc.api({ ...json, name: 'stock', auth }, () => 7)
    const listener = await start(svc, { engine })
    onTestFinished(() => listener.close())
    const base = `http://127.0.0.1:${listener.port}`
    const root = await fetch(`${base}/.well-known/oauth-protected-resource`)
    expect(await root.json()).toEqual({
      resource: 'https://shop.example',
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
    expect((await fetch(`${base}${path}`)).status).toBe(404)
    const refused = await fetch(`${base}/stock`, { method: 'POST', body: '1' })
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="https://shop.example/.well-known/oauth-protected-resource"',
    )
  })
})

it('needs an audience, or a resource that is a URL', () => {
  expect(() => jwt({ jwks: 'keys.json', issuer })).toThrow(
    'expected audience of jwt, or its resource',
  )
  for (const resource of ['shop', 'ftp://shop', 'https://shop/#mcp', 'https://'])
    expect(() => jwt({ jwks: 'keys.json', issuer, resource })).toThrow(InvalidArgument)
})
