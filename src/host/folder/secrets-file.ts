import { rm } from 'node:fs/promises'
import { SettingsError } from '../../errors.js'
import { sha256 } from '../../lib/digest.js'
import { isObject, parseJson } from '../../lib/json-object.js'
import { newSecret, type RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import { readPrivateFile, writePrivateFile } from '../private-file.js'

/** The secrets of the host's own accounts, named as the settings of `auth` name them. */
const secretNames = ['JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET', 'encryptionKey'] as const

type HostSecrets = Readonly<Record<(typeof secretNames)[number], string>>

/**
 * Reads the secrets that the host made for itself, or makes them at the first start. They are never made again: without them
 * all sessions and second factors of an existing database are lost.
 *
 * @param isFirstStart false when there is a database that was written with secrets
 * @throws {SettingsError} `data`, for a file that is missing after the first start, half-written, or open to others
 */
export async function openSecretsFile(path: string, isFirstStart: boolean): Promise<HostSecrets> {
  const text = await readPrivateFile(path)
  if (text !== null) return parse(path, text)
  if (!isFirstStart) throw fault(`${path} is missing, and host.db was written with its secrets.`)
  const secrets: HostSecrets = {
    JWT_ACCESS_TOKEN_SECRET: newSecret(),
    JWT_REFRESH_TOKEN_SECRET: newSecret(),
    encryptionKey: newSecret(),
  }
  await writePrivateFile(path, `${JSON.stringify(secrets, null, 2)}\n`)
  return secrets
}

function parse(path: string, text: string): HostSecrets {
  const found = parseJson(text)
  const secretOf = (name: (typeof secretNames)[number]): string => {
    const value = isObject(found) ? found[name] : null
    if (typeof value !== 'string' || value === '') throw fault(`${path} is damaged: ${name} is missing.`)
    return value
  }
  return {
    JWT_ACCESS_TOKEN_SECRET: secretOf('JWT_ACCESS_TOKEN_SECRET'),
    JWT_REFRESH_TOKEN_SECRET: secretOf('JWT_REFRESH_TOKEN_SECRET'),
    encryptionKey: secretOf('encryptionKey'),
  }
}

function fault(cause: string): SettingsError {
  const cure = 'Put the file back from its backup, or set the secrets in the setting auth.'
  return new SettingsError([{ setting: 'data', message: `${cause} ${cure}` }])
}

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
