import type { ServerResponse } from 'node:http'
import type { Hook } from './manifest.js'

export type Outcome =
  | { kind: 'next' }
  /** The answer is complete, or the client has left. */
  | { kind: 'ended' }
  | { kind: 'refused' | 'thrown'; error: unknown }

/** Runs functions one after another, up to the first that does not call `next()`. Only the first call of a `next` counts. */
export async function runChain(
  hooks: readonly Hook[],
  req: object,
  res: object,
  out: ServerResponse,
): Promise<Outcome> {
  for (const hook of hooks) {
    const outcome = await runOne(hook, req, res, out)
    if (outcome.kind !== 'next') return outcome
  }
  return { kind: 'next' }
}

function runOne(hook: Hook, req: object, res: object, out: ServerResponse): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      out.off('close', ended)
      out.off('finish', ended)
      resolve(outcome)
    }
    const ended = (): void => settle({ kind: 'ended' })
    const next = (error?: unknown): void => settle(error ? { kind: 'refused', error } : { kind: 'next' })
    const thrown = (error: unknown): void => settle({ kind: 'thrown', error })
    out.once('close', ended)
    out.once('finish', ended)
    if (out.closed || out.writableFinished) return ended()
    try {
      Promise.resolve(hook(req, res, next)).catch(thrown)
    } catch (error) {
      thrown(error)
    }
  })
}
