/**
 * What the page has to show beside the descriptors: paths with parameters, nested schemas, streams, a mount.
 * @module
 */
import { io, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('shop', { doc: 'Orders, and what else a shop has.' })

const json = { output: new io.JSON() }
const id = z.object({ id: z.coerce.number().int().min(1).describe('the number on the bill') })

const Card = z.object({ kind: z.literal('card'), number: z.string().regex(/^\d{4}-\d{4}$/) })
const Invoice = z.object({ kind: z.literal('invoice'), days: z.int().min(7).max(60).default(30) })

export const Order = z.object({
  customer: z.string().min(1),
  email: z.email(),
  day: z.iso.date(),
  sentAt: z.iso.datetime().nullable(),
  items: z.array(z.object({ article: z.string().min(2), count: z.int().min(1).max(99) })).min(1),
  payment: z.discriminatedUnion('kind', [Card, Invoice]),
  discount: z.number().min(0).max(1).default(0.25),
  country: z.enum(['de', 'fr', 'pl']).default('fr'),
  labels: z.record(z.string(), z.number()),
  code: z.string().regex(/^[A-Z]{3}\d+(-(new|used))?$/),
  size: z.union([z.int(), z.string()]),
  note: z.string().nullable().optional(),
  isGift: z.boolean().default(false),
  address: z.object({ street: z.string(), site: z.url().optional() }).optional(),
})

svc.api(
  { input: new io.JSON({ schema: Order }), ...json, route: '/orders', doc: 'Takes an order.' },
  function order(taken) {
    return taken
  },
)
svc.get('/orders/{id}', { params: id, ...json, doc: 'Finds an order.' }, (_, ctx) => ctx.params)
svc.put('/orders/{id}', { params: id, input: new io.JSON(), ...json }, (_, ctx) => ctx.params)
svc.patch(
  '/orders/{id}/state',
  { params: id, input: new io.JSON(), ...json },
  (_, ctx) => ctx.params,
)
svc.delete('/orders/{id}', { params: id, ...json }, (_, ctx) => ctx.params)

svc.live('upper', { input: new io.Text(), output: new io.Text() }, async function* (inputs) {
  for await (const text of inputs) yield text.toUpperCase()
})
svc.api({ input: new io.JSON(), ...json, name: 'values' }, async function* values() {
  for (let i = 0; i < 3; i++) yield { i }
})
svc.api({ input: new io.Text(), output: new io.Text(), name: 'read' }, (text) => text)
svc.api({ input: new io.File(), output: new io.File(), name: 'copy' }, (file) => file)
const frame = new io.PandasDataFrame()
svc.api({ input: frame, output: frame, name: 'table' }, (table) => table)

export default svc
