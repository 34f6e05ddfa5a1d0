import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { deploy } from '../../../src/host/flows/spaces/deploy.js'
import { listVariables, removeVariable, rotateKeys, setVariable } from '../../../src/host/flows/spaces/environment.js'
import { createSpace } from '../../../src/host/flows/spaces/spaces.js'
import { readStartFacts } from '../../../src/host/flows/spaces/start-facts.js'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { anEvent } from '../../contracts/store/rows.js'
import { admin, archiveWith, faultyCode, hostFolder, openProcess } from '../../support/space-world.js'

const space = 'dev'
const secret = 'correct horse battery staple'

async function aSpace() {
  const host = await hostFolder()
  const process = await openProcess(host)
  const { ports } = process
  const { id } = await createSpace(ports, { name: space, visitor: admin })
  return {
    host,
    id,
    process,
    set: (name: string, value: string, encrypted = true) =>
      setVariable(ports, { space, variable: { name, value, encrypted }, visitor: admin }),
    remove: (name: string) => removeVariable(ports, { space, name, visitor: admin }),
    list: () => listVariables(ports, space),
    deploy: async (code: string) =>
      deploy(ports, { space, archive: await archiveWith(code), dirty: null, visitor: admin }, () => {}),
  }
}

test('a variable is set for the running application, and shown without its value when it is encrypted', async () => {
  const { id, process, set, list, deploy } = await aSpace()
  await deploy('first')
  await set('SECRET', secret)
  await set('PLAIN', 'value', false)
  await set('SECRET', `${secret} 2`)
  const of = { setAt: '2023-11-14T22:13:20.000Z', setBy: { kind: 'user', id: 'ann' } }
  expect(await list()).toEqual([
    { name: 'PLAIN', encrypted: false, version: 1, ...of, value: 'value' },
    { name: 'SECRET', encrypted: true, version: 2, ...of },
  ])
  const { running, starts } = process.ports.children
  expect(running.get(id)?.env).toEqual({ PLAIN: 'value', SECRET: `${secret} 2` })
  expect(starts).toHaveLength(4)
})

test('a variable is removed from the running application', async () => {
  const { id, process, set, remove, list, deploy } = await aSpace()
  await set('SECRET', secret)
  await deploy('first')
  await remove('SECRET')
  expect(await list()).toEqual([])
  expect(process.ports.children.running.get(id)?.env).toEqual({})
  await expect(remove('SECRET')).rejects.toMatchObject({ code: 'not_found' })
})

test('ATK-166 no value is in an answer, an audit event or any file of the host, in whatever encoding', async () => {
  const { host, process, set, remove, list, deploy } = await aSpace()
  await set('SECRET', secret)
  await set('PLAIN', `plain ${secret}`, false)
  await deploy('first')
  await deploy(faultyCode).catch(() => {})
  const answers = JSON.stringify((await list()).filter(({ encrypted }) => encrypted))
  await remove('PLAIN')
  const events = JSON.stringify(await process.store.audit.list({ limit: 50 }))
  const files = await Promise.all(
    (await readdir(host.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')),
  )
  expect(files.length).toBeGreaterThan(3)
  const encoded = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, -2)]
  for (const text of [answers, events, ...files]) {
    for (const value of encoded) expect(text.includes(value)).toBe(false)
  }
  expect(events).toContain('"name":"SECRET","encrypted":true,"version":1')
})

test('names, sizes and the number of variables are judged, and the fault never shows the value', async () => {
  const { process, set, list } = await aSpace()
  process.ports.limits = { ...process.ports.limits, environment: { names: 2, valueBytes: 100 } }
  const faulty = [
    ['NODE_OPTIONS', secret],
    ['LATCHKEY_X', secret],
    ['1A', secret],
    ['A', secret.repeat(9)],
    ['A', `${secret}\0`],
  ] as const
  for (const [name, value] of faulty) {
    const refusal = await set(name, value).then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'invalid_request' })
    expect(JSON.stringify(refusal)).not.toContain(secret)
  }
  await set('A', '1')
  await set('B', '2')
  await expect(set('C', '3')).rejects.toMatchObject({ code: 'invalid_request' })
  await set('B', '3')
  expect((await list()).map(({ name }) => name)).toEqual(['A', 'B'])
})

test('a variable with which the application does not start is set, and the answer says both', async () => {
  const { id, process, set, list, deploy } = await aSpace()
  await deploy('first')
  const { children } = process.ports
  const { start } = children
  children.start = () => Promise.reject(new AuthError('application_timeout'))
  const refused = { code: 'application_timeout', message: expect.stringMatching(/^The variable is set, but/) }
  await expect(set('A', '1')).rejects.toMatchObject(refused)
  children.start = start
  expect(await list()).toHaveLength(1)
  expect(children.running.get(id)?.env).toEqual({})
  await set('A', '2')
  expect(children.running.get(id)?.env).toEqual({ A: '2' })
})

test('ATK-167 a value that was moved to another name, space or version does not open, and no start uses it', async () => {
  const { id, process, set, list, deploy } = await aSpace()
  const { nouns, ports } = process
  const other = await createSpace(ports, { name: 'prod', visitor: admin })
  await set('SECRET', secret, false)
  const [stored] = (await nouns.environment.read(id))?.variables ?? []
  if (!stored) throw new Error('Nothing is stored.')
  const moved = [
    { spaceId: id, name: 'OTHER', version: 1 },
    { spaceId: id, name: 'SECRET', version: 2 },
    { spaceId: other.id, name: 'SECRET', version: 1 },
  ]
  for (const { spaceId, ...place } of moved) {
    const claim = await nouns.claims.take(spaceId, 'env', 1_000)
    if (!claim || 'heldFor' in claim) throw new Error('The claim is not free.')
    await nouns.environment.set(claim, { ...stored, ...place }, anEvent({ event: 'env_set' }))
    await nouns.claims.release(claim)
  }
  expect((await list()).map(({ name, value }) => [name, value])).toEqual([
    ['OTHER', undefined],
    ['SECRET', undefined],
  ])
  await expect(deploy('first')).rejects.toMatchObject({ code: 'bundle_invalid' })
  expect(await listVariables(ports, 'prod')).toMatchObject([{ name: 'SECRET' }])
  expect(JSON.stringify(await listVariables(ports, 'prod'))).not.toContain(secret)
})

test('ATK-167 a master key that is missing stops the start and is named; with both lines all spaces open again', async () => {
  const { host, id, process, set, deploy } = await aSpace()
  const { nouns, ports } = process
  await set('SECRET', secret)
  await deploy('first')
  const [former, next] = [host.masterKey.text, newMasterKey()]
  host.masterKey.text = next
  const formerId = parseMasterKeys(former).ids[0] ?? ''
  const named = expect.stringContaining(formerId)
  await expect(readStartFacts(ports, id)).rejects.toMatchObject({ code: 'bundle_invalid', message: named })
  await expect(set('OTHER', 'value')).rejects.toMatchObject({ code: 'store_unavailable', message: named })

  host.masterKey.text = `${next}\n${former}`
  expect(await nouns.environment.wrappingKeys()).toEqual([formerId])
  const keys = parseMasterKeys(host.masterKey.text)
  expect(await rotateKeys(ports, { keys, deep: false, visitor: admin })).toBe(1)
  host.masterKey.text = next
  expect(await nouns.environment.wrappingKeys()).toEqual([parseMasterKeys(next).ids[0]])
  await set('OTHER', 'value')
  const stored = await nouns.environment.read(id)
  const opened = stored?.variables.map((variable) => ports.sealer.open(stored.key, variable))
  expect(opened).toEqual(['value', secret])
})
