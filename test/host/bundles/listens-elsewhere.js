// Listens on a socket of its own in the place of the one that the host named.
import { Server } from 'node:net'
import { app } from 'codehooks-js'

const { listen } = Server.prototype
Server.prototype.listen = function (_path, ...rest) {
  return listen.call(this, `${process.env.HOME}/own.sock`, ...rest)
}

export default app.init()
