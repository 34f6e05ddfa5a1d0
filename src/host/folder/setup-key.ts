import { rm } from 'node:fs/promises'
import { sha256 } from '../../lib/digest.js'
import type { RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import { writePrivateFile } from '../private-file.js'

/** Opens the set-up page until there is an administrator. */
export interface SetupKey {
  accepts(key: string): boolean
  /** The address of the set-up page with the key. Only a terminal may show it; the log names the file. */
  url: string
  /** Removes the file. The key is dead afterwards. */
  remove(): Promise<void>
}

const lifetimeMs = 60 * 60 * 1000

/** Makes a new key and writes the address of the set-up page into a file with mode 0600. The key works for an hour. */
export async function createSetupKey(
  path: string,
  adminUrl: string,
  { random, monotonic }: { random: Pick<RandomSource, 'token'>; monotonic: World['monotonic'] },
): Promise<SetupKey> {
  const key = random.token()
  const url = `${adminUrl}/auth/setup?key=${key}`
  const [digest, madeAtMs] = [sha256(key), monotonic()]
  let isDead = false
  await writePrivateFile(path, `${url}\n`)
  return {
    // Equal digests say nothing about how much of a guess was right.
    accepts: (given) => !isDead && monotonic() - madeAtMs < lifetimeMs && sha256(given) === digest,
    url,
    async remove() {
      isDead = true
      await rm(path, { force: true })
    },
  }
}
