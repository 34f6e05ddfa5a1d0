import { readdir, readFile } from 'node:fs/promises'

/** O_CLOEXEC, in the octal digits of `/proc`. */
const closesOnExec = 0o2000000
/** Standard input, output and error. */
const first = 3
/** Beyond this a host is started by a program that leaks, and all numbers below would be opened for each child. */
const mostNumbers = 1_024

/**
 * The largest descriptor that this process would hand on to every process that it starts: what the program that started the host
 * left open. Without such a descriptor this is 2, the number of standard error.
 */
export async function lastInherited(): Promise<number> {
  // Elsewhere than on Linux there is no such folder.
  const names = await readdir('/proc/self/fd').catch(() => [])
  const inherited = await Promise.all(names.map(async (name) => ((await isHandedOn(name)) ? Number(name) : 0)))
  return Math.min(mostNumbers, Math.max(first - 1, ...inherited))
}

async function isHandedOn(descriptor: string): Promise<boolean> {
  const facts = await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8').catch(() => '')
  const [, flags] = /^flags:\s+([0-7]+)$/m.exec(facts) ?? []
  return flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0
}
