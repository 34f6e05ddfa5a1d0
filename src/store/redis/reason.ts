/** What a server says at the beginning of a refusal, in words that help. */
const refusals: Readonly<Record<string, string>> = {
  WRONGPASS: 'the server does not take this user and password (WRONGPASS)',
  NOAUTH: 'the server asks for a password (NOAUTH)',
  NOPERM: 'the user may not do what counters and wake-ups need (NOPERM)',
  OOM: 'the server is out of memory (OOM)',
  READONLY: 'the server is a replica (READONLY)',
  MOVED: 'the server is one of a cluster, which needs an address that stands for all of it (MOVED)',
  LOADING: 'the server is starting (LOADING)',
}

/** What ioredis says by itself. */
const ownWords: readonly (readonly [RegExp, string])[] = [
  [/timed? ?out/i, 'no answer in time'],
  [/max retries|connection is closed|writeable/i, 'no connection'],
]

/**
 * What is wrong, in a few words without anything that was sent: errors of ioredis carry the command with its arguments,
 * of AUTH the password, and some servers repeat them in their answer.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const [word = ''] = error.message.split(' ', 1)
  const known = refusals[word] ?? ownWords.find(([pattern]) => pattern.test(error.message))?.[1]
  if (known) return known
  const code = 'code' in error ? String(error.code) : word
  return /^[A-Z][A-Z0-9_]+$/.test(code) ? code : error.name
}

/** Whether trying again in a moment cannot help: somebody has to change something first. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(?:WRONGPASS|NOAUTH|NOPERM|MOVED) /.test(error.message)
}
