import type { Change } from './change.js'

const contextLines = 2

/** The changes as a unified diff. Of a file with secrets it shows the new lines only, without their values. */
export function diffOf(changes: readonly Change[]): string[] {
  return changes.flatMap((change) => [
    `${change.before === null ? 'new file' : 'changed'} ${change.path}${change.isSecret ? ' (mode 0600)' : ''}`,
    ...linesOf(change).map((line) => `  ${line}`),
    '',
  ])
}

interface Line {
  sign: '+' | ' '
  text: string
}

function linesOf({ before, after, isSecret }: Change): string[] {
  const lines = compared(split(before ?? ''), split(after))
  const shown = lines.map(({ sign }, at) => sign === '+' || (!isSecret && isNearChange(lines, at)))
  return lines.flatMap(({ sign, text }, at) => {
    if (!shown[at]) return []
    const skips = at > 0 && !shown[at - 1] && !isSecret ? ['…'] : []
    return [...skips, `${sign} ${isSecret ? text.replace(/^(\w*SECRET)=.*/, '$1=…') : text}`]
  })
}

/** Changes only add lines, so each line of before comes again in the same order. */
function compared(before: readonly string[], after: readonly string[]): Line[] {
  let next = 0
  return after.map((text) => {
    if (text !== before[next]) return { sign: '+', text }
    next += 1
    return { sign: ' ', text }
  })
}

function isNearChange(lines: readonly Line[], at: number): boolean {
  return lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ sign }) => sign === '+')
}

function split(text: string): string[] {
  const lines = text.split(/\r?\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
