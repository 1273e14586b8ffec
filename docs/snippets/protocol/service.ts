import { io, Service } from 'serving'
import { predict } from './predict.ts'

const svc = new Service('doubles', { protocols: [predict] })
svc.api({ input: new io.JSON(), output: new io.JSON() }, function double(instances) {
  return (instances as number[]).map((each) => each * 2)
})

export default svc
