import {
  choiceIn,
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  textIn,
  textsIn,
  WrongField,
} from '../../lib/json-fields.js'
import { isObject } from '../../lib/json-object.js'
import type { AccessView } from '../../model/access.js'
import type { Account, Page } from '../../model/account.js'
import { type Actor, parseActor } from '../../model/actor.js'
import type { ApiTokenEntry, CreatedApiToken } from '../../model/api-token.js'
import type { DoctorReport } from '../../model/doctor/report.js'
import type {
  AccessReport,
  AuditLine,
  AuditVerdict,
  HomeDescription,
  KeySetCheck,
  MailLine,
  SessionLine,
  SpaceAddress,
  UserReport,
} from '../home.js'

/** How each answer of the control API is read. A field that a newer server adds is ignored. */

export function readPage<Item>(fields: Fields, read: (item: Fields) => Item): Page<Item> {
  return { items: listIn(fields, 'items', read), nextCursor: nullOr(fields, 'nextCursor', textIn) }
}

export function readDescription(fields: Fields, url: string): HomeDescription {
  const home = choiceIn(fields, 'home', ['application', 'host'])
  const isToken = home === 'host' && isObject(fields.adminToken)
  return {
    home,
    version: textIn(fields, 'version'),
    url,
    user: isToken ? null : readUser(fieldsIn(fields, 'user')),
    ...(home === 'host' && {
      project: textOrNull(fields, 'project') ?? 'default',
      spaces: fields.spaces === undefined ? [] : listIn(fields, 'spaces', readSpaceAddress),
    }),
  }
}

function readUser(user: Fields): NonNullable<HomeDescription['user']> {
  return {
    id: textIn(user, 'id'),
    email: textIn(user, 'email'),
    name: nullOr(user, 'name', textIn),
    right: textIn(user, 'right'),
  }
}

function readSpaceAddress(space: Fields): SpaceAddress {
  return {
    name: textIn(space, 'name'),
    url: textOrNull(space, 'url'),
    release: space.release === undefined ? null : nullOr(space, 'release', numberIn),
  }
}

export function readApiToken(fields: Fields): ApiTokenEntry {
  return {
    id: textIn(fields, 'id'),
    name: textIn(fields, 'name'),
    access: choiceIn(fields, 'access', ['READ', 'READWRITE']),
    cidrs: textsIn(fields, 'cidrs'),
    createdAt: textIn(fields, 'createdAt'),
    expiresAt: nullOr(fields, 'expiresAt', textIn),
    lastUsedAt: nullOr(fields, 'lastUsedAt', textIn),
    replacedBy: nullOr(fields, 'replacedBy', textIn),
  }
}

export function readCreatedApiToken(fields: Fields): CreatedApiToken {
  return { ...readApiToken(fields), token: textIn(fields, 'token') }
}

export function readAccessView(fields: Fields): AccessView {
  const allowList = fieldsIn(fields, 'allowList')
  return {
    jwksUrl: nullOr(fields, 'jwksUrl', textIn),
    fixedJwksUrl: nullOr(fields, 'fixedJwksUrl', textIn),
    allowList: { fixed: textsIn(allowList, 'fixed'), added: textsIn(allowList, 'added') },
  }
}

export function readAccessReport(fields: Fields): AccessReport {
  const you = fieldsIn(fields, 'you')
  const keySet = nullOr(fields, 'keySet', fieldsIn)
  return {
    ...readAccessView(fields),
    you: you.ip === null ? null : { ip: textIn(you, 'ip'), allowed: flagIn(you, 'allowed') },
    keySet: keySet && { ...readKeySetCheck(keySet), fetchedAt: textOrNull(keySet, 'fetchedAt') },
  }
}

export function readKeySetCheck(fields: Fields): KeySetCheck {
  const key = (item: Fields) => ({
    kid: textOrNull(item, 'kid'),
    alg: textOrNull(item, 'alg'),
    use: textOrNull(item, 'use'),
  })
  return { ok: flagIn(fields, 'ok'), keys: listIn(fields, 'keys', key), fault: textOrNull(fields, 'fault') }
}

/** The account with the fields of the application, which are not known here. */
export function readAccount(fields: Fields): Account {
  const identity = (item: Fields) => ({ provider: textIn(item, 'provider'), linkedAt: textIn(item, 'linkedAt') })
  return {
    ...fields,
    id: textIn(fields, 'id'),
    email: textIn(fields, 'email'),
    emailVerified: flagIn(fields, 'emailVerified'),
    name: nullOr(fields, 'name', textIn),
    roles: textsIn(fields, 'roles'),
    twoFactor: flagIn(fields, 'twoFactor'),
    createdAt: textIn(fields, 'createdAt'),
    lastLoginAt: nullOr(fields, 'lastLoginAt', textIn),
    identities: listIn(fields, 'identities', identity),
    disabledAt: textOrNull(fields, 'disabledAt'),
    disabledUntil: textOrNull(fields, 'disabledUntil'),
    disabledReason: textOrNull(fields, 'disabledReason'),
  }
}

export function readUserReport(fields: Fields): UserReport {
  const { sessions, events, ...account } = fields
  return {
    account: readAccount(isObject(account.account) ? account.account : account),
    sessions: listIn({ sessions }, 'sessions', readSession),
    events: listIn({ events }, 'events', readAuditLine),
  }
}

export function readSession(fields: Fields): SessionLine {
  return {
    id: textIn(fields, 'id'),
    userId: textIn(fields, 'userId'),
    email: textOrNull(fields, 'email'),
    device: textOrNull(fields, 'device'),
    ip: textOrNull(fields, 'ip'),
    createdAt: textIn(fields, 'createdAt'),
    lastSeenAt: textOrNull(fields, 'lastSeenAt'),
  }
}

export function readMailLine(fields: Fields): MailLine {
  return {
    id: textIn(fields, 'id'),
    template: textIn(fields, 'template'),
    domain: textIn(fields, 'domain'),
    state: textIn(fields, 'state'),
    attempts: numberIn(fields, 'attempts'),
    nextAt: nullOr(fields, 'nextAt', textIn),
    lastReason: nullOr(fields, 'lastReason', textIn),
  }
}

export function readAuditLine(fields: Fields): AuditLine {
  return {
    id: textIn(fields, 'id'),
    at: textIn(fields, 'at'),
    event: textIn(fields, 'event'),
    outcome: choiceIn(fields, 'outcome', ['success', 'failure']),
    actor: readActor(fields.actor),
    userId: nullOr(fields, 'userId', textIn),
    sessionId: nullOr(fields, 'sessionId', textIn),
    ip: nullOr(fields, 'ip', textIn),
    userAgent: nullOr(fields, 'userAgent', textIn),
    detail: readDetail(fieldsIn(fields, 'detail')),
  }
}

export function readAuditVerdict(fields: Fields): AuditVerdict {
  return { ok: flagIn(fields, 'ok'), brokenAt: nullOr(fields, 'brokenAt', textIn) }
}

export function readDoctorReport(fields: Fields): DoctorReport {
  const check = (item: Fields) => ({
    code: textIn(item, 'code'),
    ok: flagIn(item, 'ok'),
    level: choiceIn(item, 'level', ['warn', 'error']),
    finding: textOrNull(item, 'finding'),
    cause: textOrNull(item, 'cause'),
    cure: textOrNull(item, 'cure'),
    skipped: textOrNull(item, 'skipped'),
  })
  return { checkedAt: textIn(fields, 'checkedAt'), checks: listIn(fields, 'checks', check) }
}

function readActor(value: unknown): Actor | null {
  return value === null ? null : parseActor(JSON.stringify(value))
}

function readDetail(fields: Fields): AuditLine['detail'] {
  const facts = Object.entries(fields).map(([name, value]): [string, string | number | boolean] => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [name, value]
    throw new WrongField(name, 'a fact')
  })
  return Object.fromEntries(facts)
}

/** A field that may also be missing. */
export function textOrNull(fields: Fields, name: string): string | null {
  return fields[name] === undefined ? null : nullOr(fields, name, textIn)
}
