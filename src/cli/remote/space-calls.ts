import { type Fields, numberIn, textIn, textsIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { Deployed, DeployStep, LogLine, LogQuery, OnStep, SpaceCalls, Upload } from '../host-home.js'
import { type Client, path, type StreamCall } from './calls.js'
import { inSpace, type Run } from './contract-calls.js'
import { contract } from './contract-table.js'
import { asOurs, notOurs } from './send.js'

/** Longer than a release may take to be unpacked and to start. */
const idleMs = 120_000
/** Of the answer to a deploy: some steps and the warnings. */
const progressBytes = 8 * 1024 * 1024
/** Of the last lines of a log. */
const logBytes = 64 * 1024 * 1024

const releaseFields = {
  number: true,
  state: true,
  bytes: true,
  git: true,
  dirty: true,
  author: true,
  createdAt: true,
  fault: true,
} as const

/** The calls on one space. */
export function spaceCalls(run: Run, client: Client, address: Address, chooseSpace: () => string): SpaceCalls {
  const below = () => path('spaces', chooseSpace())
  const { environment, releases, spaces } = contract
  return {
    listVariables: async () => (await run(environment.list)).items,
    setVariable: (body) => run(environment.set, { body }),
    removeVariable: (name) => run(environment.remove, { params: { name } }),
    listReleases: async () => (await run(releases.list, {}, releaseFields)).items,
    deploy: (upload) => deploy(client, address, inSpace(below(), releases.deploy), upload),
    activate: (number, onStep) => {
      const call = { ...inSpace(below(), releases.activate, { n: String(number) }), idleMs, mostBytes: progressBytes }
      return followSteps(client, address, { call, onStep, wait: true })
    },
    undeploy: (confirm) => run(releases.undeploy, { body: { confirm } }),
    async takeOver() {
      const { kind, by, since } = await run(spaces.takeOver, { params: { space: chooseSpace() } })
      return { kind, by: by && (by.id === null ? by.kind : `${by.kind} ${by.id}`), since }
    },
    readLog: (query) => readLog(client, address, inSpace(below(), releases.log), query),
  }
}

function deploy(
  client: Client,
  address: Address,
  target: Pick<StreamCall, 'method' | 'path'>,
  upload: Upload,
): Promise<Deployed> {
  const { archive, git, wait, onSent, onStep } = upload
  const call = {
    ...target,
    headers: gitHeaders(git),
    upload: archive,
    onSent,
    idleMs,
    mostBytes: progressBytes,
  }
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

async function* readLog(
  client: Client,
  { site }: Address,
  target: Pick<StreamCall, 'method' | 'path'>,
  query: LogQuery,
) {
  const { follow, since, level } = query
  const { rows } = await client.stream({
    ...target,
    query: { since, level, ...(follow && { follow: 'true' }) },
    idleMs: follow ? null : idleMs,
    mostBytes: follow ? null : logBytes,
  })
  for await (const row of rows('end')) {
    if (row.end === undefined) yield asOurs(site, () => readLogLine(row))
  }
}

function readStep(fields: Fields): DeployStep {
  return { step: textIn(fields, 'step'), ms: numberIn(fields, 'ms') }
}

function readDone(fields: Fields): { release: number; warnings: string[] } {
  return { release: numberIn(fields, 'release'), warnings: textsIn(fields, 'warnings') }
}

function readLogLine(fields: Fields): LogLine {
  return { at: textIn(fields, 'at'), level: textIn(fields, 'level'), text: textIn(fields, 'text') }
}
