import { remember } from '../lib/remember.js'
import type { AccessClaims, RefreshClaims } from './access-tokens.js'

/** Who writes our tokens and for whom; both are compared as whole strings. */
export interface Parties {
  issuer: string
  audience: string
}

/** The last second of the year 9999: a later time is milliseconds taken for seconds, or nonsense. */
const latestTime = 253_402_300_799

const longestId = 128

/** A blank, a control character or anything that could look like something else: what no id has in it. */
const unfitForId = /[^\x21-\x7e]/

/** Reads the payload of a token whose signature is sound. Null: a claim is missing or of the wrong type. */
export interface ClaimsReader {
  /** Claims whose lists are frozen; those of other tokens may have the very same list. */
  readAccess(payload: unknown): AccessClaims | null
  /** Frozen claims. */
  readRefresh(payload: unknown): RefreshClaims | null
}

/** Claims that we do not know are left out, so that an instance of an older version accepts what a newer one signed. */
export function createClaimsReader(parties: Parties): ClaimsReader {
  const sharedList = remember((word): readonly string[] => Object.freeze([word]))

  /** Most lists have one word, the same in most tokens: those share a list, since thousands of tokens are kept. */
  function frozen(words: string[]): readonly string[] {
    const [word] = words
    return word !== undefined && words.length === 1 ? sharedList(word) : Object.freeze(words)
  }

  return {
    readAccess(payload) {
      if (!isOurs(payload, parties)) return null
      const { sub, sid, ctr, ver, email, email_verified, roles, amr, auth_time, iat, exp } = payload

      if (!isId(sub) || !isId(sid) || !isCount(ctr) || !isCount(ver)) return null
      if (!isText(email) || typeof email_verified !== 'boolean' || !isTexts(roles) || !isTexts(amr)) return null
      if (!isTime(auth_time) || !isTime(iat) || !isTime(exp)) return null

      return { sub, sid, ctr, ver, email, email_verified, roles: frozen(roles), amr: frozen(amr), auth_time, iat, exp }
    },
    readRefresh(payload) {
      if (!isOurs(payload, parties)) return null
      const { sub, sid, ctr, iat, exp } = payload

      if (!isId(sub) || !isId(sid) || !isCount(ctr) || !isTime(iat) || !isTime(exp)) return null
      return Object.freeze({ sub, sid, ctr, iat, exp })
    },
  }
}

/** `aud` as an array is refused although RFC 7519 §4.1.3 allows it, and so is `nbf`: we never write either. */
function isOurs(payload: unknown, parties: Parties): payload is Record<string, unknown> {
  if (!isRecord(payload)) return false
  return payload.iss === parties.issuer && payload.aud === parties.audience && !Object.hasOwn(payload, 'nbf')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(value: unknown): value is string {
  return isText(value) && value.length <= longestId && !unfitForId.test(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isTime(value: unknown): value is number {
  return isCount(value) && value > 0 && value <= latestTime
}
