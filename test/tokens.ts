/** Tokens of two issuers, as `jwt` of `serving/auth` accepts them. @module */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import { jwt } from '../src/api/auth/index.ts'

/** Returns the hook, and what makes headers of a token with these claims beside `aud` and `exp`. */
export async function twoIssuers() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const folder = mkdtempSync(join(tmpdir(), 'serving-tokens-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const jwks = join(folder, 'jwks.json')
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }))
  const exp = Math.floor(Date.now() / 1000) + 600
  const as = async (claims: Readonly<Record<string, unknown>>) => {
    const token = new SignJWT({ iss: 'https://one', aud: 'a', exp, ...claims }).setProtectedHeader({
      alg: 'ES256',
    })
    return { authorization: `Bearer ${await token.sign(privateKey)}` }
  }
  return { auth: jwt({ jwks, issuer: ['https://one', 'https://two'], audience: 'a' }), as }
}
