// Loaded before `latchkey serve`: on SIGUSR2 one of its data threads ends at once, as if the thread had crashed.
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const running = new Set()

threads.Worker = class extends threads.Worker {
  constructor(program, options) {
    super(program, options)
    if (!String(program).includes('storage/thread/worker')) return
    running.add(this)
    this.once('exit', () => running.delete(this))
  }
}
syncBuiltinESMExports()
process.on('SIGUSR2', () => {
  const all = [...running]
  void all[Math.floor(Math.random() * all.length)]?.terminate()
})
