import { describe, expect, it } from 'vitest'
import { type AnyOptions, type Api, createApi } from '../../../src/api/api.ts'
import type { RequestHook } from '../../../src/api/hooks.ts'
import type { Encoding } from '../../../src/api/stages.ts'
import { type Access, Entered, type RequestTarget, Visit } from '../../../src/api/visit.ts'
import { Forbidden, NotFound, ServingError, Unauthorized } from '../../../src/core/errors.ts'
import * as io from '../../../src/descriptors/index.ts'
import { Context } from '../../../src/http/context.ts'
import { HeaderList, HttpRequest } from '../../../src/http/message.ts'

class Asked extends Visit {
  readonly target: RequestTarget = { method: 'POST', path: '/', query: '', params: {} }
  free = 100
  readonly memory = {
    reserve: (bytes: number) => this.reserve(bytes),
    release: (bytes: number) => {
      this.free += bytes
    },
  }

  reserve(bytes: number): boolean {
    if (bytes > this.free) return false
    this.free -= bytes
    return true
  }
}

const asked = (access: Access) => new Asked(new Context(), access)
const inMessage: Access = { kind: 'message' }
const refuse: RequestHook = () => {
  throw new Forbidden('not you')
}

function apiOf(options: Partial<AnyOptions> = {}, fn = () => 'called'): Api {
  const text = new io.Text()
  return createApi(
    'POST',
    undefined,
    { name: 'f', input: text, output: text, ...options } as AnyOptions,
    fn,
  )
}

const told: Encoding<string> = {
  encode: (_, result) => String(result),
  fail: (error) => error.code,
}

describe('a visit', () => {
  it('runs auth and hooks of an API that the message names, before the input is decoded', async () => {
    const decoded: string[] = []
    const decode = () => decoded.push('decoded')
    for (const options of [{ auth: refuse }, { onRequest: refuse }]) {
      expect(await asked(inMessage).call(apiOf(options), decode, told)).toBe('forbidden')
    }
    expect(decoded).toEqual([])
    expect(await asked(inMessage).call(apiOf(), decode, told)).toBe('called')
  })

  it('does not run them again where the path has named the API', () => {
    const visit = asked({ kind: 'api', api: 'f' })
    expect(visit.call(apiOf({ auth: refuse }), () => '', told)).toBe('called')
    expect(visit.call(apiOf({ name: 'g', auth: refuse }), () => '', told)).toBe('forbidden')
  })

  it.each(['open', 'public'] as const)('of a path that is %s calls nothing', (kind) => {
    const visit = asked({ kind, because: 'a test' })
    const ran: string[] = []
    const api = apiOf({}, () => ran.push('ran') as never)
    expect(visit.call(api, () => '', told)).toBe('internal')
    expect(() => visit.enter(api)).toThrow('expected a path whose access is of callers to call f')
    expect(ran).toEqual([])
  })

  it('keeps the refusal of the service, unless an API has its own auth', () => {
    const visit = asked(inMessage)
    visit.denial = new Unauthorized('expected a key')
    expect(visit.call(apiOf(), () => '', told)).toBe('unauthorized')
    expect(visit.call(apiOf({ auth: false }), () => '', told)).toBe('called')
    // Who may not come in does not learn which names there are.
    expect(() => visit.find(new Map(), 'x', 'the name')).toThrow(Unauthorized)
    expect(() => asked(inMessage).find(new Map(), 'x', 'the name')).toThrow(NotFound)
  })

  it('takes a slot of the API until the end of its request', () => {
    const api = apiOf({ maxInFlight: 1 })
    const first = asked(inMessage)
    expect(first.call(api, () => '', told)).toBe('called')
    expect(asked(inMessage).call(api, () => '', told)).toBe('overloaded')
    first.ctx.end()
    expect(asked(inMessage).call(api, () => '', told)).toBe('called')
  })

  it('holds memory, or refuses', () => {
    const visit = asked(inMessage)
    visit.hold(60)
    expect(() => visit.hold(60)).toThrow(ServingError)
    expect(visit.free).toBe(40)
  })

  it('has accounts of memory that go up and down, until its end', () => {
    const visit = asked(inMessage)
    const [first, second] = [visit.account(), visit.account()]
    expect([first.hold(60), second.hold(60), visit.free]).toEqual([true, false, 40])
    expect([first.hold(10), second.hold(60), visit.free]).toEqual([true, true, 30])
    visit.ctx.end()
    expect([first.hold(10), visit.free]).toEqual([false, 100])
  })

  it('reads JSON within bounds, and gives the memory of a request back', () => {
    const headers = new HeaderList([], [])
    expect(asked(inMessage).json(new HttpRequest(headers, Buffer.from('[1]')))).toEqual([1])
    expect(() => asked(inMessage).json(Buffer.from('[1'))).toThrow('expected')
    const keys = Object.fromEntries(Array.from({ length: 50_001 }, (_, i) => [`k${i}`, 0]))
    expect(() => asked(inMessage).json(Buffer.from(JSON.stringify(keys)))).toThrow('keys')
  })

  it('lists what the caller may see, and says why where that is nothing', async () => {
    const apis = [
      apiOf({ name: 'a' }),
      apiOf({ name: 'b', auth: refuse }),
      apiOf({ name: 'c', auth: false }),
    ]
    const names = async (visit: Visit, of = apis) =>
      (await visit.visible(of, () => new Context())).map(({ name }) => name)
    expect(await names(asked(inMessage))).toEqual(['a', 'c'])
    const denied = asked(inMessage)
    denied.denial = new Unauthorized('expected a key')
    expect(await names(denied)).toEqual(['c'])
    await expect(names(denied, [apis[1]])).rejects.toThrow(Forbidden)
  })

  it('is the only source of an entry', () => {
    const visit = asked(inMessage)
    expect(visit.enter(apiOf())).toBeInstanceOf(Entered)
    expect(() => new Entered(Symbol('door'), apiOf(), visit, visit.ctx)).toThrow(TypeError)
  })
})
