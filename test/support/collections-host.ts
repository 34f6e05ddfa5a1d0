import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHostOf } from '../../src/host/host.js'
import { createHostPieces } from '../../src/host/host-pieces.js'
import { newMasterKey } from '../../src/host/sealing/master-keys.js'
import { parseHostSettings } from '../../src/host/settings/host-settings.js'
import { freePort } from './program.js'
import { queryProgram } from './query-program.js'
import { archiveOfBundle, buildRunner, mingo } from './space-release.js'
import { threadProgram } from './storage-threads.js'

export interface CallAnswer {
  status: number
  text: string
  /** Of one JSON value, else null. */
  body: unknown
  /** Of JSON lines. */
  rows: unknown[]
}

export interface CollectionsHostOptions {
  queryMs?: number
  limits?: Readonly<Record<string, string | number>>
  /** Default: SQLite files. */
  database?: string
  /** Moves the clock of a database that has its own, to so many milliseconds after the real time. */
  shift?(milliseconds: number): Promise<void>
}

/** A listening host with an administrator, for the routes about documents. They are called in the space `dev`. */
export type CollectionsHost = Awaited<ReturnType<typeof collectionsHost>>

export async function collectionsHost({ queryMs, limits = {}, database, shift }: CollectionsHostOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-collections-'))
  const programs = {
    ...{ runner: await buildRunner(folder), mingo, thread: await threadProgram(), query: await queryProgram(folder) },
    ...(queryMs !== undefined && { queryMs }),
  }
  const [front, admin] = [await freePort(), await freePort()]
  const place = { data: join(folder, 'data'), baseUrl: `http://127.0.0.1:${front}` }
  const adminUrl = `http://127.0.0.1:${admin}`
  const logged: Record<string, unknown>[] = []
  const log = (fields: Record<string, unknown>) => void logged.push(fields)
  const settings = parseHostSettings({
    ...{ ...place, adminUrl, limits, database, listen: `127.0.0.1:${front}`, adminListen: `127.0.0.1:${admin}` },
    auth: { logger: { warn: log, error: log }, password: { checkBreached: false } },
  })
  const clock = { laterMs: 0 }
  const host = createHostOf(settings, createHostPieces(programs), {
    stopTimes: { noticeMs: 0, drainMs: 1_000 },
    runtime: { now: () => Date.now() + clock.laterMs },
    ...(database !== undefined && { masterKey: newMasterKey() }),
  })
  await host.listen()
  const api = `${adminUrl}/auth/admin/api`
  const bearer: Record<string, string> = { authorization: `Bearer ${await signUp(adminUrl, place.data)}` }

  async function send(path: string, init: RequestInit): Promise<CallAnswer> {
    const response = await fetch(`${api}${path}`, init)
    const text = await response.text()
    const lines = text.split('\n').filter((line) => line !== '')
    const isOne = response.headers.get('content-type')?.includes('jsonl') === false
    return {
      ...{ status: response.status, text },
      body: isOne && text !== '' ? JSON.parse(text) : null,
      rows: isOne ? [] : lines.map((line): unknown => JSON.parse(line)),
    }
  }

  function call(method: string, path: string, body?: unknown, credential: Record<string, string> = bearer) {
    return send(`/spaces/dev${path}`, {
      method,
      headers: { ...credential, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  return {
    ...{ api, bearer, call, logged, send },
    ...{ base: place.baseUrl, adminUrl },
    /** Sets the clocks to so many milliseconds after the real time. */
    async shift(milliseconds: number) {
      clock.laterMs = milliseconds
      await shift?.(milliseconds)
    },
    /** Deploys a bundle of `test/host/bundles` to the space `dev`. */
    async deploy(bundle: string): Promise<CallAnswer> {
      return send('/spaces/dev/releases', {
        method: 'POST',
        headers: { ...bearer, 'content-type': 'application/gzip' },
        body: new Uint8Array(await archiveOfBundle(bundle)),
      })
    },
    /** The folder of the host. */
    data: place.data,
    createSpace: (name: string) =>
      send('/spaces', {
        method: 'POST',
        headers: { ...bearer, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      }),
    query: (collection: string, query: object, credential = bearer) =>
      call('POST', `/collections/${collection}/query`, query, credential),
    importText: (collection: string, text: string | Uint8Array<ArrayBuffer>, query = '', credential = bearer) =>
      send(`/spaces/dev/collections/${collection}/import${query}`, {
        method: 'POST',
        headers: { ...credential, 'content-type': 'application/jsonl' },
        body: text,
      }),
    async adminToken(narrowed: object = {}): Promise<Record<string, string>> {
      const answer = await fetch(`${api}/admintokens`, {
        method: 'POST',
        headers: { ...bearer, 'content-type': 'application/json' },
        body: JSON.stringify({ owner: 'personal', name: 'ci', ...narrowed }),
      })
      const { token } = (await answer.json()) as { token: string }
      return { 'x-admintoken': token }
    },
    /** The newest events of one name. */
    async events(name: string): Promise<Record<string, unknown>[]> {
      const answer = await fetch(`${api}/audit?event=${name}`, { headers: bearer })
      const { items } = (await answer.json()) as { items: Record<string, unknown>[] }
      return items
    },
    async close() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The first administrator, by the link of the set-up. Returns their access token. */
async function signUp(adminUrl: string, data: string): Promise<string> {
  const key = new URL((await readFile(join(data, 'setup-url'), 'utf8')).trim()).searchParams.get('key')
  const answer = await fetch(`${adminUrl}/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
    body: JSON.stringify({ key, email: 'ann@example.test', password: 'a difference engine of brass' }),
  })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  return accessToken
}
