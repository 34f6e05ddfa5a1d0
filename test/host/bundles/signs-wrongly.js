// Answers the health check with a signature that the hop key did not make.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { app } from 'codehooks-js'

const { createHmac } = crypto
crypto.createHmac = (algorithm) => createHmac(algorithm, 'another key')
syncBuiltinESMExports()

export default app.init()
