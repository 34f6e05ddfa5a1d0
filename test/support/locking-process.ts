// A process that locks the folder of a host, to be killed. Its argument is the folder; it prints `locked`, or the fault.

import { folderAt, lockFolder } from '../../src/host/folder/folder.js'
import { createWorld, keepProcessRunning, nowSeconds } from '../../src/lib/runtime.js'

const folder = folderAt(process.argv[2] ?? '')
try {
  await lockFolder(folder, nowSeconds(createWorld()))
  process.stdout.write('locked\n')
  keepProcessRunning()
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`)
}
