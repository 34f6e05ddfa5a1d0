import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type CollectionsHost, collectionsHost } from '../../support/collections-host.js'

let host: CollectionsHost

beforeAll(async () => {
  host = await collectionsHost()
  await host.createSpace('dev')
})
afterAll(() => host.close())

/** An upload that the test ends itself. */
function upload(path: string, credential: Record<string, string>): { sent: ClientRequest; answer: Promise<string> } {
  const sent = request(`${host.api}/spaces/dev${path}`, { method: 'POST', headers: { ...credential } })
  const answer = once(sent, 'response').then(([response]: IncomingMessage[]) => (response ? text(response) : ''))
  answer.catch(() => {})
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  return { sent, answer }
}

async function tokenFor(command: string): Promise<{ credential: Record<string, string>; remove(): Promise<void> }> {
  const credential = await host.adminToken({ commands: [command], name: command })
  const listed = (await host.send('/admintokens', { headers: host.bearer })).body as { id: string; name: string }[]
  const id = listed.find(({ name }) => name === command)?.id
  return {
    credential,
    async remove() {
      const { status } = await host.send(`/admintokens/${id}`, { method: 'DELETE', headers: host.bearer })
      expect(status).toBe(204)
    },
  }
}

const idsOf = async (collection: string) =>
  (await host.query(collection, {})).rows.flatMap((row) => (row as { _id?: string })._id ?? [])

test('ATK-204 a token that is removed while its lines arrive has none of them imported', async () => {
  const { credential, remove } = await tokenFor('import')
  const { sent, answer } = upload('/collections/lines/import', { ...credential, 'content-type': 'application/jsonl' })
  sent.write(Array.from({ length: 1_000 }, (_, n) => `{"_id":"${n}"}\n`).join(''))
  await remove()
  // Nothing more is sent: the host itself ends it.
  expect(await answer).toContain('"code":"unauthenticated"')
  sent.end('{"_id":"after"}\n')
  expect(await idsOf('lines')).toEqual([])
})

test('ATK-204 a token that is removed while its lines are written has no further line imported', async () => {
  const { credential, remove } = await tokenFor('import')
  const { body } = await fetch(`${host.api}/spaces/dev/collections/many/import`, {
    method: 'POST',
    headers: { ...credential, 'content-type': 'application/jsonl' },
    body: Array.from({ length: 60_000 }, (_, n) => `{"_id":"${n}"}\n`).join(''),
  })
  const reader = body?.getReader()
  const first = await reader?.read()
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^\{"processed":1000,/)
  await remove()
  const rest: Uint8Array[] = []
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) rest.push(read.value)
  expect(Buffer.concat(rest).toString()).toContain('"code":"unauthenticated"')
  expect(await idsOf('many')).not.toContain('59999')
})

test('ATK-204 a token that is removed during a restore replaces nothing, and keeps no other change waiting', async () => {
  await host.importText('notes', '{"_id":"old"}\n')
  const backup = await fetch(`${host.api}/spaces/dev/backup`, { headers: host.bearer })
  const archive = Buffer.from(await backup.arrayBuffer())
  await host.importText('notes', '{"_id":"new"}\n')
  const { credential, remove } = await tokenFor('restore')
  const type = { 'content-type': 'application/gzip' }
  const { sent, answer } = upload('/restore?confirm=dev', { ...credential, ...type })
  sent.write(archive.subarray(0, 20))
  const setEnv = () => host.call('POST', '/env', { name: 'MODE', value: 'safe', encrypted: false })
  expect(await setEnv()).toMatchObject({ status: 204 })
  await remove()
  expect(await answer).toContain('"code":"unauthenticated"')
  sent.end(archive.subarray(20))
  expect(await setEnv()).toMatchObject({ status: 204 })
  expect(await idsOf('notes')).toEqual(['new', 'old'])
})

test('ATK-204 a token that is removed during an export gets no more of it', async () => {
  const line = (n: number) => `{"_id":"${n}","text":"${'x'.repeat(2_000)}"}\n`
  await host.importText('large', Array.from({ length: 4_000 }, (_, n) => line(n)).join(''))
  const { credential, remove } = await tokenFor('export')
  const { body } = await fetch(`${host.api}/spaces/dev/collections/large/export`, { headers: credential })
  const reader = body?.getReader()
  await reader?.read()
  await remove()
  // As slow as a client that reads for long.
  const all: string[] = []
  const decoder = new TextDecoder()
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    all.push(decoder.decode(read.value, { stream: true }))
  }
  expect(all.join('').split('\n').at(-2)).toContain('"code":"unauthenticated"')
})

test('who is signed out follows a log no longer', async () => {
  const { accessToken } = await signIn()
  const session = { authorization: `Bearer ${accessToken}` }
  const { body } = await fetch(`${host.api}/spaces/dev/logs?follow=true`, { headers: session })
  const followed = body ? text(body) : ''
  await fetch(`${host.adminUrl}/auth/logout`, { method: 'POST', headers: session })
  expect(await followed).toContain('"code":"token_revoked"')
})

async function signIn(): Promise<{ accessToken: string }> {
  const answer = await fetch(`${host.adminUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
    body: JSON.stringify({ email: 'ann@example.test', password: 'a difference engine of brass' }),
  })
  return (await answer.json()) as { accessToken: string }
}
