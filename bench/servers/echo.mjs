import { io, Service } from 'serving'

const svc = new Service('echo')
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function ndarray(x) {
  return x
})

export default svc
