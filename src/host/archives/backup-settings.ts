import {
  choiceIn,
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  readFields,
  textIn,
  textsIn,
} from '../../lib/json-fields.js'
import type { ApiTokenRecord } from '../../model/api-token.js'
import type { KeySetRules } from '../../model/key-set.js'
import type { SealedVariable } from '../ports.js'
import { countIn } from './backup-manifest.js'

/** The settings of a space, as a backup has them: no secret is readable. */
export interface BackupSettings {
  jwks: { url: string; rules: KeySetRules | null } | null
  /** The allow-list. */
  networks: readonly string[]
  apiTokens: readonly BackupToken[]
  environment: readonly (SealedVariable & { encrypted: boolean })[]
}

export type BackupToken = Pick<
  ApiTokenRecord,
  'id' | 'tokenHash' | 'name' | 'access' | 'cidrs' | 'createdAt' | 'expiresAt' | 'replacedBy'
>

/** null: damaged. */
export function readBackupSettings(text: string): BackupSettings | null {
  return readFields(text, (fields) => ({
    jwks: nullOr(fields, 'jwks', keySetIn),
    networks: textsIn(fields, 'networks'),
    apiTokens: listIn(fields, 'apiTokens', readToken),
    environment: listIn(fields, 'environment', (each) => ({
      name: textIn(each, 'name'),
      version: countIn(each, 'version'),
      sealed: textIn(each, 'sealed'),
      encrypted: flagIn(each, 'encrypted'),
    })),
  }))
}

function keySetIn(fields: Fields, name: string): BackupSettings['jwks'] {
  const jwks = fieldsIn(fields, name)
  return { url: textIn(jwks, 'url'), rules: nullOr(jwks, 'rules', rulesIn) }
}

function rulesIn(fields: Fields, name: string): KeySetRules {
  const rules = fieldsIn(fields, name)
  return {
    issuer: nullOr(rules, 'issuer', textIn),
    audience: textsIn(rules, 'audience'),
    algorithms: textsIn(rules, 'algorithms'),
    exclusive: flagIn(rules, 'exclusive'),
  }
}

function readToken(fields: Fields): BackupToken {
  return {
    id: textIn(fields, 'id'),
    tokenHash: textIn(fields, 'tokenHash'),
    name: textIn(fields, 'name'),
    access: choiceIn(fields, 'access', ['READ', 'READWRITE']),
    cidrs: textsIn(fields, 'cidrs'),
    createdAt: numberIn(fields, 'createdAt'),
    expiresAt: nullOr(fields, 'expiresAt', numberIn),
    replacedBy: nullOr(fields, 'replacedBy', textIn),
  }
}
