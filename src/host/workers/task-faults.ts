import { queryInvalid, type StoreError } from '../documents/store-error.js'
import { unavailable } from '../storage/faults.js'
import type { Task } from './tasks.js'
import { memoryMegabytes, type WorkerEnd } from './worker-process.js'

/** Why a task ended that took too long. */
export function tookTooLong(task: Task, mostMs: number): StoreError {
  const seconds = `${mostMs / 1_000} s`
  if (isChange(task)) {
    return queryInvalid(
      `The change was stopped after ${seconds}. Change fewer documents at a time, by a narrower filter.`,
    )
  }
  return queryInvalid(
    `The query was stopped after ${seconds}. Filter by an indexed field, set a limit, or use a simpler expression.`,
  )
}

/** Why a task ended whose worker is gone. */
export function endedEarly(task: Task, { outOfMemory, error }: WorkerEnd): StoreError {
  if (!outOfMemory) return unavailable(error)
  const needs = `needs more than ${memoryMegabytes} MiB of memory.`
  if (task.kind === 'import')
    return queryInvalid(`A line of the import ${needs} Import it without very large documents.`)
  if (isChange(task)) return queryInvalid(`The change ${needs} Change fewer documents at a time, by a narrower filter.`)
  return queryInvalid(`The query ${needs} Set a limit, or sort and group fewer documents.`)
}

function isChange(task: Task): boolean {
  return task.kind === 'query' && task.change !== null
}
