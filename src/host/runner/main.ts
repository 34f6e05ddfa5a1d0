import { closeBuiltIns } from './built-ins.js'
import { ignoreDebugger } from './ignore-debugger.js'
import { openPipe } from './pipe.js'
import { logFault, start } from './start.js'
import { readStartOptions } from './start-options.js'

/** The front kills a child that sends no heartbeat for 10 s. */
const heartbeatMs = 1_000
/** The exit code of a release that cannot start. */
const failed = 1

ignoreDebugger()
const pipe = openPipe({
  onClosed: () => process.exit(0),
  // As a signal, because applications may listen for it too. In a sandbox the signal itself would end bubblewrap.
  onEnd: () => void process.emit('SIGTERM', 'SIGTERM'),
})

async function run(): Promise<void> {
  closeBuiltIns()
  const { server, notRun } = await start(readStartOptions(await pipe.readLine()))
  // An unhandled rejection ends the start. Later ones are only logged: applications of the platform have many of them.
  process.on('unhandledRejection', logFault)
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
  pipe.write({ kind: 'listening', notRun })
  setInterval(() => pipe.write({ kind: 'heartbeat' }), heartbeatMs)
}

run().catch((error: unknown) => {
  logFault(error)
  process.exit(failed)
})
