import { type Fields, listIn, WrongField } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { Deployed, LogQuery, OnStep, SpaceCalls, Upload } from '../host-home.js'
import { type Client, path, type StreamCall } from './calls.js'
import { readDone, readEnded, readLogLine, readRelease, readStep, readVariable } from './host-answers.js'
import { notOurs } from './send.js'

/** Longer than a release may take to be unpacked and to start. */
const idleMs = 120_000
/** Of the answer to a deploy: some steps and the warnings. */
const progressBytes = 8 * 1024 * 1024
/** Of the last lines of a log. */
const logBytes = 64 * 1024 * 1024

/** The calls on one space. @param below its path */
export function spaceCalls(client: Client, address: Address, below: () => string): SpaceCalls {
  const items = <T>(target: string, read: (item: Fields) => T) =>
    client.call({ method: 'GET', path: `${below()}${target}` }, (fields) => listIn(fields, 'items', read))
  return {
    listVariables: () => items('/env', readVariable),
    async setVariable(body) {
      await client.answer({ method: 'POST', path: `${below()}/env`, body })
    },
    async removeVariable(name) {
      await client.answer({ method: 'DELETE', path: `${below()}${path('env', name)}` })
    },
    listReleases: () => items('/releases', readRelease),
    deploy: (upload) => deploy(client, address, `${below()}/releases`, upload),
    activate: (number, onStep) => {
      const target = `${below()}${path('releases', String(number), 'activate')}`
      const call = { method: 'POST', path: target, idleMs, mostBytes: progressBytes } as const
      return followSteps(client, address, { call, onStep, wait: true })
    },
    async undeploy(confirm) {
      await client.answer({ method: 'DELETE', path: `${below()}/releases/current`, body: { confirm } })
    },
    takeOver: () => client.call({ method: 'POST', path: `${below()}/take-over` }, readEnded),
    readLog: (query) => readLog(client, address, `${below()}/logs`, query),
  }
}

function deploy(client: Client, address: Address, target: string, upload: Upload): Promise<Deployed> {
  const { archive, git, wait, onSent, onStep } = upload
  const call = {
    method: 'POST',
    path: target,
    headers: gitHeaders(git),
    upload: archive,
    onSent,
    idleMs,
    mostBytes: progressBytes,
  } as const
  return followSteps(client, address, { call, onStep, wait })
}

/** A branch may have characters that no header can hold. */
function gitHeaders(git: Upload['git']): Record<string, string> {
  if (git === null) return {}
  return {
    'x-latchkey-git-hash': git.hash,
    ...(git.branch !== null && { 'x-latchkey-git-branch': encodeURIComponent(git.branch).replaceAll('%2F', '/') }),
    ...(git.dirty !== null && { 'x-latchkey-git-dirty': String(git.dirty) }),
  }
}

async function followSteps(
  client: Client,
  { site }: Address,
  { call, onStep, wait }: { call: StreamCall; onStep: OnStep; wait: boolean },
): Promise<Deployed> {
  const { rows, close } = await client.stream(call)
  for await (const row of rows('done')) {
    if (row.done !== undefined) return asOurs(site, () => readDone(row))
    const step = asOurs(site, () => readStep(row))
    onStep(step)
    if (!wait && step.step === 'uploaded') {
      close()
      return { release: null, warnings: [] }
    }
  }
  throw notOurs(site, 'no last row')
}

async function* readLog(client: Client, { site }: Address, target: string, query: LogQuery) {
  const { follow, since, level } = query
  const { rows } = await client.stream({
    method: 'GET',
    path: target,
    query: { since, level, ...(follow && { follow: 'true' }) },
    idleMs: follow ? null : idleMs,
    mostBytes: follow ? null : logBytes,
  })
  for await (const row of rows('end')) {
    if (row.end === undefined) yield asOurs(site, () => readLogLine(row))
  }
}

function asOurs<T>(site: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof WrongField ? notOurs(site, error.message) : error
  }
}
