import { io, openFile, Service } from 'serving'

const svc = new Service('films')
const folder = new URL('./films/', import.meta.url)

svc.get('/films/{name}', { output: new io.File() }, (_, ctx) =>
  openFile(ctx, folder, ctx.params.name),
)

export default svc
