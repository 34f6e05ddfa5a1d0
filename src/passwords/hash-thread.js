import { parentPort } from 'node:worker_threads'
import { run } from './hash-worker.js'

/**
 * What a thread of `TextWorkers` runs: the build makes `hash-worker-text.ts` of this file. Posts `{ ready: true }` once, then
 * an answer for each `{ id, job }`.
 *
 * @param {import('node:worker_threads').MessagePort} port
 */
function serve(port) {
  let previous = Promise.resolve()
  port.on('message', (/** @type {{ id: number, job: import('./hash-job.js').HashJob }} */ { id, job }) => {
    // One at a time: bcryptjs gives way to other jobs, and the time of a job would be that of two.
    previous = previous.then(async () => port.postMessage({ id, ...(await answer(job)) }))
  })
  port.postMessage({ ready: true })
}

/**
 * @param {import('./hash-job.js').HashJob} job
 * @returns {Promise<{ result: import('./hash-job.js').HashResult } | { fault: string }>}
 */
async function answer(job) {
  try {
    return { result: await run(job) }
  } catch (error) {
    if (!(error instanceof Error)) return { fault: 'unknown' }
    // A message may quote what was sent.
    return { fault: 'code' in error ? String(error.code) : error.name }
  }
}

if (parentPort) serve(parentPort)
