/** The echo of every descriptor, for the clients in clients.py. */
import { echoService } from '../echo-service.ts'

export default echoService()
