import Koa from 'koa'
import { nodeHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const app = new Koa()
const scale = nodeHandler({ input: rows, output: rows }, double)

app.use(async (ctx, next) => {
  if (ctx.path !== '/scale') return next()
  ctx.respond = false
  scale(ctx.req, ctx.res)
})
app.listen(Number(process.env.PORT))
