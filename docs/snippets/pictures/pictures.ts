import { io, Service } from 'serving'

const svc = new Service('pictures')
const mean = [0.485, 0.456, 0.406]
const std = [0.229, 0.224, 0.225]
const picture = new io.Image({ tensor: { size: [224, 224], shortSide: 256, mean, std } })

// x is an NDArray<'float32'> of 3×224×224.
svc.api({ input: picture, output: new io.JSON() }, function brightness(x) {
  return { shape: x.shape, mean: Number(x.mean().toFixed(1)) }
})

export default svc
