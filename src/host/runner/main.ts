import './ignore-debugger.js'
import { openPipe } from './pipe.js'
import { logFault, start } from './start.js'
import { readStartOptions } from './start-options.js'

/** How often the front hears of this child; 10 s of silence mean that it loops. */
const heartbeatMs = 1_000
/** A release that cannot start. */
const failed = 1

const pipe = openPipe(() => process.exit(0))

async function run(): Promise<void> {
  const server = await start(readStartOptions(await pipe.readLine()))
  // From here on a forgotten promise ends no process: applications of the platform have many of them.
  process.on('unhandledRejection', logFault)
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
  pipe.write({ kind: 'listening' })
  setInterval(() => pipe.write({ kind: 'heartbeat' }), heartbeatMs)
}

run().catch((error: unknown) => {
  logFault(error)
  process.exit(failed)
})
