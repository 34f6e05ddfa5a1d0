// Loaded by `node --import` into test processes and their threads. The threads of the hash pool run at the lowest priority
// (src/passwords/hash-worker.js). With a test file busy on every core they would hardly run, and each wrong password
// waits as long as the slowest hash of late. Programs that the tests start keep the priority of production.
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

Object.assign(os, { setPriority() {} })
syncBuiltinESMExports()
