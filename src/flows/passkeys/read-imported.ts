import { AuthError, invalidField } from '../../errors.js'
import { isoTime } from '../../lib/iso-time.js'
import { isTransport, type PasskeyRecord } from '../../model/factors/passkey.js'
import { passkeyProvider } from '../../model/factors/passkey-entry.js'
import type { ImportedPasskey } from '../../model/imported-account.js'
import type { Ports } from '../../ports.js'
import { requireFlag, requireName, requirePast } from '../steps/require-account-fields.js'

type ReadPorts = Pick<Ports, 'webauthn' | 'clock' | 'random' | 'policy'>

const ownNames = new Set([
  'credentialId',
  'publicKey',
  'synced',
  'backedUp',
  'userHandle',
  'signCount',
  'rpId',
  'transports',
  'aaguid',
  'name',
  'createdAt',
  'lastUsedAt',
])

/** In bytes (WebAuthn §4, §5.4.3). */
const longest = { credentialId: 1_023, publicKey: 4_096, userHandle: 64 }

const unknownModel = '00000000-0000-0000-0000-000000000000'

/** How many a user may have while passkeys are off: the default of `passkeys.max`. */
const defaultMax = 20

/**
 * Reads the passkeys of a record, the oldest first.
 *
 * @throws {AuthError} `invalid_request` with the path of the wrong property, `passkey_limit`
 */
export async function readImportedPasskeys(
  ports: ReadPorts,
  given: unknown,
  owner: { userId: string; createdAt: number },
): Promise<PasskeyRecord[]> {
  if (!Array.isArray(given)) throw invalidField('passkeys', 'must be a list')
  if (given.length > (ports.policy.passkeys?.max ?? defaultMax)) throw new AuthError('passkey_limit')
  const read: PasskeyRecord[] = []
  for (const [index, record] of given.entries()) {
    const path = `passkeys[${index}]`
    const passkey = await readPasskey(ports, record, { ...owner, path })
    const isTwice = read.some(({ rpId, credentialId: id }) => rpId === passkey.rpId && id === passkey.credentialId)
    if (isTwice) throw invalidField(`${path}.credentialId`, 'is there twice')
    read.push(passkey)
  }
  return read.toSorted((one, other) => one.createdAt - other.createdAt)
}

async function readPasskey(
  ports: ReadPorts,
  record: unknown,
  { userId, createdAt, path }: { userId: string; createdAt: number; path: string },
): Promise<PasskeyRecord> {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    throw invalidField(path, 'must be an object')
  const given: Readonly<Record<string, unknown>> = { ...record }
  const unknown = Object.keys(given).find((name) => !ownNames.has(name))
  if (unknown !== undefined) throw invalidField(`${path}.${unknown}`, 'is no property of a passkey')

  const publicKey = readBytes(given.publicKey, `${path}.publicKey`, longest.publicKey)
  const algorithm = await ports.webauthn.readKey(publicKey)
  if (algorithm === null) throw invalidField(`${path}.publicKey`, 'must be a COSE key of ES256, EdDSA or RS256')
  const synced = requireFlag(given.synced, `${path}.synced`)
  const backedUp = requireFlag(given.backedUp ?? synced, `${path}.backedUp`)
  if (backedUp && !synced) throw invalidField(`${path}.backedUp`, 'must be false where synced is')
  const aaguid = readModel(given.aaguid ?? unknownModel, `${path}.aaguid`)
  const now = ports.clock.now()
  return {
    id: ports.random.id(),
    userId,
    rpId: readRpId(given.rpId ?? ports.policy.passkeys?.rpId, `${path}.rpId`),
    credentialId: readBytes(given.credentialId, `${path}.credentialId`, longest.credentialId),
    publicKey,
    algorithm,
    signCount: readCount(given.signCount ?? 0, `${path}.signCount`),
    synced,
    backedUp,
    transports: readTransports(given.transports ?? [], `${path}.transports`),
    aaguid,
    name: requireName(given.name ?? null, `${path}.name`) ?? passkeyProvider(aaguid) ?? 'Passkey',
    userHandle: isGiven(given.userHandle)
      ? readBytes(given.userHandle, `${path}.userHandle`, longest.userHandle)
      : null,
    suspendedAt: null,
    createdAt: isGiven(given.createdAt) ? requirePast(given.createdAt, `${path}.createdAt`, now) : createdAt,
    lastUsedAt: isGiven(given.lastUsedAt) ? requirePast(given.lastUsedAt, `${path}.lastUsedAt`, now) : null,
  }
}

/** A passkey as `readImportedPasskeys` takes it. */
export function toImportedPasskey(passkey: PasskeyRecord): ImportedPasskey {
  const { credentialId, publicKey, synced, backedUp, userHandle, signCount, rpId, transports, aaguid, name } = passkey
  return {
    ...{ credentialId, publicKey, synced, backedUp, userHandle, signCount, rpId, transports, aaguid, name },
    createdAt: isoTime(passkey.createdAt),
    lastUsedAt: passkey.lastUsedAt === null ? null : isoTime(passkey.lastUsedAt),
  }
}

const isGiven = (value: unknown) => value !== undefined && value !== null

/** Canonical base64url of what is base64 or base64url, with padding or without. */
function readBytes(text: unknown, path: string, most: number): string {
  const isText = typeof text === 'string' && /^[\w+/-]+={0,2}$/.test(text)
  const bytes = Buffer.from(isText ? text : '', 'base64')
  if (bytes.length > 0 && bytes.length <= most) return bytes.toString('base64url')
  throw invalidField(path, `must be base64url or base64 of at most ${most} bytes`)
}

function readRpId(rpId: unknown, path: string): string {
  if (rpId === undefined) throw invalidField(path, 'must be given while passkeys are off')
  if (typeof rpId === 'string' && rpId.length <= 253 && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(rpId)) return rpId
  throw invalidField(path, 'must be a host such as example.com, in lower case')
}

/** Of 32 bits (WebAuthn §6.1). */
function readCount(count: unknown, path: string): number {
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count < 2 ** 32) return count
  throw invalidField(path, 'must be a whole number of 32 bits')
}

function readTransports(transports: unknown, path: string): readonly string[] {
  const areTransports = Array.isArray(transports) && transports.length <= 16 && transports.every(isTransport)
  if (areTransports) return [...new Set(transports)]
  throw invalidField(path, 'must be a list of words')
}

function readModel(aaguid: unknown, path: string): string {
  if (typeof aaguid === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(aaguid))
    return aaguid.toLowerCase()
  throw invalidField(path, 'must be a UUID')
}
