/** A port of Redis Sentinel answers, but holds no data. */
export const sentinelReason =
  'it is a Redis Sentinel, which holds no data. Give `redis` an ioredis client instead: new Redis({ sentinels: [{ host, port }], name })'

/** The beginning of a refusal as servers write it, and a clearer wording. */
const refusals: Readonly<Record<string, string>> = {
  WRONGPASS: 'the server refuses this user and password (WRONGPASS). Correct them',
  NOAUTH: 'the server asks for a password (NOAUTH). Add it to the URL or the client',
  NOPERM:
    'the user lacks the rights that counters and wake-ups need (NOPERM). docs/deploy/several-processes.md lists them',
  OOM: 'the server is out of memory (OOM). Raise its maxmemory',
  READONLY: 'the server is a replica (READONLY). Name the primary',
  MOVED:
    'the server is one node of a cluster (MOVED). Give `redis` an ioredis client instead: new Cluster([{ host, port }])',
  LOADING: 'the server is starting (LOADING)',
}

/** Errors of ioredis itself. */
const ownWords: readonly (readonly [RegExp, string])[] = [
  [/^ERR unknown command/, 'the server lacks a command that counters need: EVALSHA or DEL'],
  [
    /subscriber mode/i,
    'the client is subscribed to a channel, so it takes no other command. Give `redis` a client of its own',
  ],
  [/sentinels are unreachable/i, 'no Sentinel answers'],
  [/timed? ?out/i, 'no answer in time'],
  [/max retries|connection is closed|writeable/i, 'no connection'],
]

/**
 * What is wrong, in a few words and without anything that was sent. Errors of ioredis carry the command with its arguments
 * (the password, in the case of AUTH), and some servers repeat them in their reply.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const [word = ''] = error.message.split(' ', 1)
  const known = refusals[word] ?? ownWords.find(([pattern]) => pattern.test(error.message))?.[1]
  if (known) return known
  const code = 'code' in error ? String(error.code) : word
  return /^[A-Z][A-Z0-9_]+$/.test(code) ? code : error.name
}

/** Whether trying again cannot help, because a setting or a right is wrong. */
export function isRefusal(error: unknown): boolean {
  return (
    isUnknownCommand(error) || (error instanceof Error && /^(?:WRONGPASS|NOAUTH|NOPERM|MOVED) /.test(error.message))
  )
}

export function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ERR unknown command')
}
