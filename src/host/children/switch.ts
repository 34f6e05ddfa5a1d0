import { type World, within } from '../../lib/runtime.js'
import type { RunningChild } from './start.js'

/** Requests that were given this child in the moment of the switch have not been counted yet. */
const uncountedMs = 50
const drainMs = 30_000
/** The browser opens an event stream again by itself. */
const eventStreamMs = 2_000
const terminateMs = 5_000

/**
 * Ends a child that takes no new requests: its running ones get 30 s and event streams 2 s, then it is asked to end,
 * and after 5 s it is killed.
 * Resolves when the process is gone, and its data socket with it.
 */
export async function retire(running: RunningChild, timer: World['timer']): Promise<void> {
  await within(timer, drainMs, drained(running, timer))
  running.terminate()
  await within(timer, terminateMs, running.exited)
  running.kill('It did not end within 5 s of being asked to.')
  await running.ended
}

async function drained({ requests, eventStreams, exited }: RunningChild, timer: World['timer']): Promise<void> {
  await within(timer, uncountedMs, exited)
  const streams = within(timer, eventStreamMs, eventStreams.whenNone())
  await Promise.race([Promise.all([requests.whenNone(), streams]), exited])
}
