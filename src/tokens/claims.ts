import { remember } from '../lib/remember.js'
import type { AccessClaims, ActorClaim, RefreshClaims } from './access-tokens.js'

/** Issuer and audience of our tokens. Both are compared as whole strings. */
export interface Parties {
  issuer: string
  audience: string
}

/** The last second of the year 9999. A later time was probably given in milliseconds. */
const latestTime = 253_402_300_799

const longestId = 128

/** Blanks, control characters and look-alikes, which no id contains. */
const unfitForId = /[^\x21-\x7e]/

/** Reads the payload of a token whose signature is sound. Null: a claim is missing or of the wrong type. */
export interface ClaimsReader {
  /** The lists in the claims are frozen, because several tokens may share one list. */
  readAccess(payload: unknown): AccessClaims | null
  /** Frozen claims. */
  readRefresh(payload: unknown): RefreshClaims | null
}

/** Claims that we do not know are left out, so that an instance of an older version accepts what a newer one signed. */
export function createClaimsReader(parties: Parties): ClaimsReader {
  const sharedList = remember((word): readonly string[] => Object.freeze([word]))

  /** Thousands of tokens are cached, and most have the same list of one word. So they share it. */
  function frozen(words: string[]): readonly string[] {
    const [word] = words
    return word !== undefined && words.length === 1 ? sharedList(word) : Object.freeze(words)
  }

  return {
    readAccess(payload) {
      if (!isOurs(payload, parties)) return null
      const { sub, sid, ctr, ver, email, email_verified, email_proved, roles, amr, auth_time, act, iat, exp } = payload

      if (!isId(sub) || !isId(sid) || !isCount(ctr) || !isCount(ver)) return null
      if (!isText(email) || typeof email_verified !== 'boolean' || !isTexts(roles) || !isTexts(amr)) return null
      if (!isTime(iat) || !isTime(exp)) return null
      if (email_proved !== undefined && email_proved !== true) return null
      const actor = act === undefined ? null : readActor(act)
      if (act !== undefined && actor === null) return null
      // The user of an impersonated session has proved nothing, so its time is 0.
      if (actor) {
        if (auth_time !== 0) return null
      } else if (!isTime(auth_time)) return null

      const lists = { roles: frozen(roles), amr: frozen(amr) }
      const claims = { sub, sid, ctr, ver, email, email_verified, ...lists, auth_time, iat, exp }
      return { ...claims, ...(email_proved && { email_proved }), ...(actor && { act: actor }) }
    },
    readRefresh(payload) {
      if (!isOurs(payload, parties)) return null
      const { sub, sid, ctr, act, iat, exp } = payload

      if (!isId(sub) || !isId(sid) || !isCount(ctr) || !isTime(iat) || !isTime(exp)) return null
      if (act !== undefined && !isId(act)) return null
      return Object.freeze({ sub, sid, ctr, ...(act !== undefined && { act }), iat, exp })
    },
  }
}

/** `aud` as an array is refused although RFC 7519 §4.1.3 allows it, and so is `nbf`: we never write either. */
function isOurs(payload: unknown, parties: Parties): payload is Record<string, unknown> {
  if (!isRecord(payload)) return false
  return payload.iss === parties.issuer && payload.aud === parties.audience && !Object.hasOwn(payload, 'nbf')
}

/** Null for a claim that names no administrator: then the whole token is refused. */
function readActor(value: unknown): ActorClaim | null {
  if (!isRecord(value)) return null
  const { sub, sid, ver, exp } = value
  return isId(sub) && isId(sid) && isCount(ver) && isTime(exp) ? Object.freeze({ sub, sid, ver, exp }) : null
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
