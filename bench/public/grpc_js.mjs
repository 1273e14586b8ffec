/** grpc-js with the greeting of grpc_bench. Arguments: the port and the file of the messages. */
import grpc from '@grpc/grpc-js'
import loader from '@grpc/proto-loader'

const [, , port, proto] = process.argv
const { helloworld } = grpc.loadPackageDefinition(
  loader.loadSync(proto, { keepCase: true, oneofs: true }),
)
const server = new grpc.Server()
server.addService(helloworld.Greeter.service, {
  SayHello({ request }, answer) {
    answer(null, { response: request.request })
  },
})
server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error
})
