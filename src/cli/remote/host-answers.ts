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
} from '../../lib/json-fields.js'
import type {
  ActorEntry,
  AdminTokenEntry,
  DeployStep,
  EndedWork,
  LogLine,
  ProjectUser,
  Release,
  SpaceEntry,
  Team,
  Variable,
} from '../host-home.js'
import { textOrNull } from './answers.js'

/** How each answer of the host is read. A field that a newer host adds is ignored. */

export function readSpace(fields: Fields): SpaceEntry {
  return {
    name: textIn(fields, 'name'),
    url: textIn(fields, 'url'),
    createdAt: textIn(fields, 'createdAt'),
    release: nullOr(fields, 'release', numberIn),
    state: textIn(fields, 'state'),
    memoryBytes: numberIn(fields, 'memoryBytes'),
    restarts: numberIn(fields, 'restarts'),
  }
}

export function readRemovedCount(fields: Fields): number {
  return numberIn(fields, 'removed')
}

export function readProjectUser(fields: Fields): ProjectUser {
  const team = (item: Fields) => ({
    id: textIn(item, 'id'),
    name: textIn(item, 'name'),
    right: textIn(item, 'right'),
  })
  return {
    ...readPerson(fields),
    right: nullOr(fields, 'right', textIn),
    teams: listIn(fields, 'teams', team),
    inForce: nullOr(fields, 'inForce', textIn),
  }
}

export function readTeam(fields: Fields): Team {
  return {
    id: textIn(fields, 'id'),
    name: textIn(fields, 'name'),
    right: textIn(fields, 'right'),
    createdAt: textIn(fields, 'createdAt'),
    members: listIn(fields, 'members', readPerson),
  }
}

export function readAdminToken(fields: Fields): AdminTokenEntry {
  const owner = fieldsIn(fields, 'owner')
  const madeBy = fieldsIn(fields, 'madeBy')
  const lastUse = nullOr(fields, 'lastUse', fieldsIn)
  return {
    id: textIn(fields, 'id'),
    start: textIn(fields, 'start'),
    name: textIn(fields, 'name'),
    owner: {
      kind: choiceIn(owner, 'kind', ['personal', 'team']),
      id: textIn(owner, 'id'),
      name: textIn(owner, 'name'),
    },
    madeBy: { id: textIn(madeBy, 'id'), email: nullOr(madeBy, 'email', textIn) },
    spaces: nullOr(fields, 'spaces', textsIn),
    commands: nullOr(fields, 'commands', textsIn),
    cidrs: textsIn(fields, 'cidrs'),
    createdAt: textIn(fields, 'createdAt'),
    expiresAt: nullOr(fields, 'expiresAt', textIn),
    lastUse: lastUse && { day: textIn(lastUse, 'day'), network: textOrNull(lastUse, 'network') },
  }
}

export function readCreatedAdminToken(fields: Fields): AdminTokenEntry & { token: string } {
  return { ...readAdminToken(fields), token: textIn(fields, 'token') }
}

export function readVariable(fields: Fields): Variable {
  return {
    name: textIn(fields, 'name'),
    encrypted: flagIn(fields, 'encrypted'),
    version: numberIn(fields, 'version'),
    setAt: textIn(fields, 'setAt'),
    setBy: readActor(fields, 'setBy'),
    value: textOrNull(fields, 'value'),
  }
}

export function readRelease(fields: Fields): Release {
  const git = nullOr(fields, 'git', fieldsIn)
  return {
    number: numberIn(fields, 'number'),
    state: textIn(fields, 'state'),
    bytes: numberIn(fields, 'bytes'),
    git: git && { hash: textIn(git, 'hash'), branch: nullOr(git, 'branch', textIn) },
    dirty: nullOr(fields, 'dirty', flagIn),
    author: readActor(fields, 'author'),
    createdAt: textIn(fields, 'createdAt'),
    fault: nullOr(fields, 'fault', textIn),
  }
}

export function readStep(fields: Fields): DeployStep {
  return { step: textIn(fields, 'step'), ms: numberIn(fields, 'ms') }
}

export function readDone(fields: Fields): { release: number; warnings: string[] } {
  return { release: numberIn(fields, 'release'), warnings: textsIn(fields, 'warnings') }
}

export function readEnded(fields: Fields): EndedWork {
  const by = readActor(fields, 'by')
  const who = by && (by.id === null ? by.kind : `${by.kind} ${by.id}`)
  return { kind: textIn(fields, 'kind'), by: who, since: textIn(fields, 'since') }
}

export function readLogLine(fields: Fields): LogLine {
  return { at: textIn(fields, 'at'), level: textIn(fields, 'level'), text: textIn(fields, 'text') }
}

function readPerson(fields: Fields): { id: string; email: string; name: string | null } {
  return { id: textIn(fields, 'id'), email: textIn(fields, 'email'), name: nullOr(fields, 'name', textIn) }
}

function readActor(fields: Fields, name: string): ActorEntry | null {
  const actor = nullOr(fields, name, fieldsIn)
  return actor && { kind: textIn(actor, 'kind'), id: nullOr(actor, 'id', textIn) }
}
