import { io, Service } from 'serving'

const text = new io.Text()

const svc = new Service('words')
  .add('shout', { input: text, output: text }, (word) => `${word.toUpperCase()}!`)
  .addGet('labels', { output: new io.JSON() }, () => ['loud'])

export default svc
