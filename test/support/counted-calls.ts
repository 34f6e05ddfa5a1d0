import { Session } from 'node:inspector/promises'

interface Coverage {
  result: { url: string; functions: { ranges: { count: number }[] }[] }[]
}

/**
 * How many functions of our code and of packages each of these runs calls, every call counted. It is a measure of work that no
 * busy machine changes. Functions of Node do not count.
 */
export async function countedCalls(...runs: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const counts: number[] = []
    for (const run of runs) {
      await run()
      // Reading the counts sets them back to 0.
      counts.push(callsIn(await session.post('Profiler.takePreciseCoverage')))
    }
    return counts
  } finally {
    session.disconnect()
  }
}

function callsIn({ result }: Coverage): number {
  const calls = result
    .filter(({ url }) => url !== '' && !url.startsWith('node:'))
    .flatMap(({ functions }) => functions.map(({ ranges: [whole] }) => whole?.count ?? 0))
  return calls.reduce((sum, count) => sum + count, 0)
}
