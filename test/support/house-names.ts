import { posix } from 'node:path'
import ts from 'typescript'
import { lineOf, type Source, walk } from './house-source.js'

/** Names that say nothing, for files and folders. */
const emptyWords = /(^|-)(utils?|helpers?|managers?|services?|data|infos?)(-|$)/

/** The old vocabulary, as words within names; each has a standard term now. */
const oldWords: Readonly<Record<string, string>> = {
  lane: 'queue or concurrency',
  lanes: 'queue or concurrency',
  turn: 'lock, queue or round',
  turns: 'lock, queue or rounds',
  tell: 'notify or report',
  tells: 'notifies or reports',
  told: 'notified or reported',
  said: 'reported',
  news: 'revocation feed, changes or messages',
  wish: 'returnTo',
  wishes: 'returnTo',
  wished: 'returnTo',
  planted: 'spoofed',
  nobody: 'null or signedOut',
  somebody: 'user or visitor',
  whoever: 'user or visitor',
}

const oldNames = ['createOwnWord', 'unlessRefused']

/** Identifiers that may stay, by file. */
const keptNames: Readonly<Record<string, readonly string[]>> = {
  // A field of the record that 0.1.0 stores in the Datastore: renaming it would make stored records unreadable.
  'src/store/datastore/engine/queue-record.ts': ['turn'],
  'src/store/datastore/engine/queue.ts': ['turn'],
  'src/store/datastore/engine/lock.ts': ['turn'],
}

/** Names that say nothing: `utils.ts`, `token-helper.ts`. */
export function nameFaults(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    path
      .split('/')
      .filter((part) => emptyWords.test(stem(part)))
      .map((part) => `${path}: ${part} says nothing`),
  )
}

/** The old vocabulary in names of files and folders, and in identifiers. */
export function oldNameFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const inPath = source.path.split('/').flatMap((part) => faultOf(stem(part), `${source.path}: ${part}`))
    const faults = new Set(inPath)
    walk(source.tree, (node) => {
      if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return
      if (keptNames[source.path]?.includes(node.text)) return
      for (const fault of faultOf(node.text, `${source.path}:${lineOf(source, node)}: ${node.text}`)) faults.add(fault)
    })
    return [...faults]
  })
}

/** Exceptions that no file needs any more. */
export function idleNameExceptions(sources: readonly Source[]): string[] {
  return Object.entries(keptNames).flatMap(([path, names]) => {
    const text = sources.find((source) => source.path === path)?.text ?? ''
    return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)).map((name) => `${path}: ${name}`)
  })
}

function faultOf(name: string, place: string): string[] {
  if (oldNames.includes(name)) return [`${place} is an old name`]
  const words = wordsOf(name)
  return words.flatMap((word, index) => {
    const term = Object.hasOwn(oldWords, word) ? oldWords[word] : undefined
    // Two-factor authentication is turned on and off.
    const isVerb = word === 'turn' && /^(on|off)$/.test(words[index + 1] ?? '')
    return term === undefined || isVerb ? [] : [`${place} says ${word}; write ${term}`]
  })
}

/** `next`, `turn` of `nextTurn`; `turns`, `after` of `TURNS_AFTER`; `turn`, `off` of `turn-off`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase())
}

function stem(part: string): string {
  return posix.basename(part).replace(/\..*$/, '')
}
