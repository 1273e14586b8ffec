import { io, Service } from 'serving'

const svc = new Service('upper')

export const upper = svc.live(
  'upper',
  { input: new io.Text(), output: new io.Text() },
  async function* upper(texts) {
    for await (const text of texts) yield text.toUpperCase()
  },
)

export default svc
