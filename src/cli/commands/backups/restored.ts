import type { Restored } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { quantity } from '../sizes.js'

export function showVerified({ output }: Tool, restored: Restored): void {
  const { time, collections, documents } = restored
  output.result({ ...restored, verified: true }, [
    `The archive is whole: ${quantity(collections, 'collection')}, ${quantity(documents, 'object')} of ${minute(time)}.`,
    'Nothing was changed.',
    ...notesOf(restored),
  ])
}

export function showRestored({ output }: Tool, space: string, restored: Restored): void {
  const { time, release } = restored
  output.result({ space, ...restored }, [
    `Restored ${space} to ${minute(time)}. Undo within 24 h: latchkey restore --undo`,
    ...(release === null ? [] : [`Release ${release} serves.`]),
    ...notesOf(restored),
  ])
}

/** What the user has to do. */
function notesOf({ setAgain, warnings }: Restored): string[] {
  const { environment, apiTokens } = setAgain
  return [
    ...(environment.length > 0 ? [`Set these variables again: ${environment.join(', ')}`] : []),
    ...(apiTokens.length > 0 ? [`Create these API tokens again: ${apiTokens.join(', ')}`] : []),
    ...warnings,
  ]
}

/** `2026-11-24T08:00Z` */
function minute(time: string): string {
  return `${time.slice(0, 16)}Z`
}
