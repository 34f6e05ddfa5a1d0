import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { problem, type Reply } from '../../support/control-server.js'
import { adminToken } from '../../support/host-control-server.js'
import { type Desk, openDesk, type RunOptions } from '../../support/tool.js'

/** By route: lines, or what a function makes of the text that was sent. */
type Answers = Readonly<Record<string, string | ((text: string) => Reply)>>

/** A host that answers each call on the data of `dev` with these, and keeps what it was sent. */
async function startDataServer(answers: Answers) {
  const seen: { route: string; text: string }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost')
    const route = `${request.method} ${pathname.replace(/^\/auth\/admin\/api(\/spaces\/dev)?/, '') || '/'}${search}`
    if (route !== 'GET /') seen.push({ route, text })
    const home = { home: 'host', version: '0.2.0', project: 'shop', spaces: [], adminToken: { id: 'a41f' } }
    const answer = route === 'GET /' ? JSON.stringify(home) : (answers[route] ?? '')
    const { status = 200, body, headers } = typeof answer === 'string' ? { body: answer } : answer(text)
    response.writeHead(status, { 'content-type': 'application/jsonl', ...headers })
    response.end(typeof body === 'object' ? JSON.stringify(body) : body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, seen }
}

const end = (count: number) => `${JSON.stringify({ end: { count } })}\n`
const users = '{"_id":"1","end":{"count":1}}\n{"_id":"2","error":"=x()"}\n'
let desk: Desk

beforeEach(async () => {
  desk = await openDesk()
})

async function at(answers: Answers) {
  const { url, seen } = await startDataServer(answers)
  const latchkey = (args: readonly string[], options: RunOptions = {}) =>
    desk.run(['--url', url, ...args], { ...options, env: { LATCHKEY_ADMIN_TOKEN: adminToken } })
  return { latchkey, seen }
}

describe('query', () => {
  test('prints the rows as a JSON array', async () => {
    const { latchkey, seen } = await at({ 'POST /collections/users/query': users + end(2) })
    const { code, stdout } = await latchkey(['query', 'users', 'age>3', '--sort', '-age'])
    expect(JSON.parse(stdout)).toEqual([
      { _id: '1', end: { count: 1 } },
      { _id: '2', error: '=x()' },
    ])
    expect(code).toBe(0)
    expect(JSON.parse(seen[0]?.text ?? '')).toEqual({ filter: { age: { $gt: 3 } }, sort: { age: -1 } })
  })

  test.each([['--sort', '-age'], ['age>3&sort=age']])('with --reverse and %s is refused', async (...sorted) => {
    const { latchkey, seen } = await at({})
    const { code, stderr } = await latchkey(['query', 'users', ...sorted, '--reverse'])
    expect(stderr).toContain('error: --reverse does not go with a sort.')
    expect([code, seen]).toEqual([2, []])
  })

  test('ATK-193 an answer that ends early is exit 1, and no array', async () => {
    const { latchkey } = await at({ 'POST /collections/users/query': users })
    const { code, stdout, stderr } = await latchkey(['query', 'users'])
    expect(() => JSON.parse(stdout)).toThrow()
    expect(stderr).toContain('ended before it was whole')
    expect(code).toBe(1)
  })

  test('a change is not made without a confirmation', async () => {
    const { latchkey, seen } = await at({ 'POST /collections/users/query': end(3) })
    const args = ['query', 'users', 'age>3', '--delete']
    const asked = await latchkey(args)
    expect(asked.stderr).toContain('This deletes 3 objects of users in dev. Go on? Answer with --yes')
    expect(asked.code).toBe(2)
    expect(seen.map(({ text }) => JSON.parse(text))).toEqual([{ filter: { age: { $gt: 3 } }, count: true }])
    expect(await latchkey([...args, '--yes'])).toMatchObject({ code: 0, stdout: 'Deleted 3 objects\n' })
    expect(JSON.parse(seen.at(-1)?.text ?? '')).toEqual({ filter: { age: { $gt: 3 } }, delete: true })
  })
})

describe('import', () => {
  const route = 'POST /collections/users/import'
  const finished = (imported: number, ...failed: object[]) =>
    `${JSON.stringify({ finished: true, imported, failed })}\n`

  test('of CSV types cells and keeps the lines of the file', async () => {
    const { latchkey, seen } = await at({ [route]: finished(2, { line: 6, fault: 'exists' }) })
    const csv = 'name,age,zip\r\n"A\r\nB",3,0151\r\nshort,1\r\n\r\nC,"4",\r\n'
    await writeFile(join(desk.folder, 'users.csv'), csv)
    const { code, stdout, stderr } = await latchkey(['import', 'users.csv', '-c', 'users'])
    expect(seen[0]?.text).toBe('\n{"name":"A\\r\\nB","age":3,"zip":"0151"}\n\n\n\n{"name":"C","age":"4"}\n')
    expect(stdout).toBe('Finished import 2 objects\n')
    expect(stderr).toContain('line 4: has 2 cells, and the first line has 3\nline 6: exists\n')
    expect(code).toBe(6)
  })

  test('of CSV leaves every cell of _id text', async () => {
    const { latchkey, seen } = await at({ [route]: finished(4) })
    const input = 'n,_id\n1,1\n2,2024-01-02\n3,true\n4,\n'
    expect((await latchkey(['import', '-', '-c', 'users', '--separator', ','], { input })).code).toBe(0)
    expect(seen[0]?.text).toBe('\n{"n":1,"_id":"1"}\n{"n":2,"_id":"2024-01-02"}\n{"n":3,"_id":"true"}\n{"n":4}\n')
  })

  test('of a JSON list names elements, and stops at a mistake', async () => {
    const { latchkey, seen } = await at({ [route]: finished(2) })
    const { code, stderr } = await latchkey(['import', '-', '-c', 'users'], { input: '[{"a":1},\n7,{"b":2},{"c"}]' })
    expect(seen[0]?.text).toBe('{"a":1}\n\n{"b":2}\n')
    expect(stderr).toContain('element 2: is no object\nelement 4: is no JSON\nWhat follows it was not read.\n')
    expect(code).toBe(6)
  })

  test.each([
    ['a proxy', (): Reply => ({ status: 502, body: '<html>' }), 'Some objects may have been imported.', 5],
    ['an answer', (): Reply => ({ body: '{"imported":1000}\n' }), 'At least 1000 objects were imported.', 1],
  ])('that %s breaks off may have written, and a dry run has not', async (_, answer, sentence, exitCode) => {
    const { latchkey } = await at({ [route]: answer, [`${route}?dryrun=true`]: answer })
    const { code, stderr } = await latchkey(['import', '-', '-c', 'users'], { input: '{"a":1}\n' })
    expect(stderr).toContain(`${sentence} Import the file again with --upsert, which replaces them.\n`)
    expect(code).toBe(exitCode)
    const dry = await latchkey(['import', '-', '-c', 'users', '--dryrun'], { input: '{"a":1}\n' })
    expect(dry.stderr).not.toContain('imported')
    expect(dry.code).toBe(exitCode)
  })

  test('of a folder says so', async () => {
    const { latchkey, seen } = await at({})
    await mkdir(join(desk.folder, 'rows'))
    await symlink('rows', join(desk.folder, 'link'))
    for (const name of ['rows', 'link']) {
      const { code, stderr } = await latchkey(['import', name, '-c', 'users'])
      expect([code, stderr]).toEqual([2, `error: ${join(desk.folder, name)} is a folder. Name a file.\n`])
    }
    const none = await latchkey(['import', 'none', '-c', 'users'])
    expect([none.code, none.stderr]).toEqual([2, `error: There is no file ${join(desk.folder, 'none')}.\n`])
    expect(seen).toEqual([])
  })

  test('of JSONL sends the lines as they are', async () => {
    const { latchkey, seen } = await at({ [`${route}?dryrun=true&upsert=true`]: finished(2) })
    const input = '{"n":12345678901234567890}\n\n{"a" : 1}'
    const { code, stdout } = await latchkey(['import', '-', '-c', 'users', '--dryrun', '--upsert'], { input })
    expect(seen[0]?.text).toBe('{"n":12345678901234567890}\n\n{"a" : 1}\n')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Dry run: 2 objects can be imported\n' })
  })
})

describe('export', () => {
  const route = 'GET /collections/users/export'

  test('writes the lines as they are, in a new file of mode 0600', async () => {
    const { latchkey } = await at({ [route]: users + end(2) })
    expect(await latchkey(['export', 'users'])).toMatchObject({ code: 0, stdout: users })
    expect(await latchkey(['export', 'users', '-f', 'u.jsonl'])).toMatchObject({ code: 0 })
    expect(await readFile(join(desk.folder, 'u.jsonl'), 'utf8')).toBe(users)
    expect((await stat(join(desk.folder, 'u.jsonl'))).mode & 0o777).toBe(0o600)
    expect(await latchkey(['export', 'users', '-f', 'u.jsonl'])).toMatchObject({ code: 2 })
  })

  test('of a collection that is not there names it', async () => {
    const { latchkey } = await at({ 'GET /collections/nosuch/export': () => problem(404, 'not_found') })
    const { code, stderr } = await latchkey(['export', 'nosuch', '-f', 'u.jsonl'])
    expect(stderr).toContain('error: There is no collection nosuch in dev.\n')
    expect([code, await readdir(desk.folder)]).toEqual([1, []])
  })

  test('ATK-193 what is not whole stays a .part, and is named', async () => {
    const { latchkey } = await at({ [route]: users })
    const { code, stderr } = await latchkey(['export', 'users', '-f', 'u.jsonl'])
    expect(await readdir(desk.folder)).toEqual(['u.jsonl.part'])
    expect(stderr).toContain('u.jsonl.part. It is not whole.')
    expect(code).toBe(1)
  })

  test('ATK-170 --csv has a column for each field, and --safe-csv defuses formulas', async () => {
    const { latchkey } = await at({ [route]: `{"_id":"1","n":-5}\n{"_id":"b","f":"=cmd()","l":[1]}\n${end(2)}` })
    const { stdout } = await latchkey(['export', 'users', '--csv', '--safe-csv'])
    expect(stdout).toBe('_id,n,f,l\n"1",-5,,\nb,,\'=cmd(),"[1]"\n')
  })
})

test('createindex and removeindex', async () => {
  const steps = '{"processed":1,"of":2,"field":"email"}\n{"processed":2,"of":2,"field":"email"}\n{"finished":true}\n'
  const { latchkey, seen } = await at({ 'POST /collections/users/indexes': steps })
  const made = await latchkey(['createindex', 'users', 'email'])
  expect(made).toMatchObject({ code: 0, stdout: 'Finished creating index for 2 objects\n' })
  expect(JSON.parse(seen[0]?.text ?? '')).toEqual({ fields: ['email'] })
  expect((await latchkey(['createindex', 'users', 'email', '--unique'])).code).toBe(0)
  expect(JSON.parse(seen[1]?.text ?? '')).toEqual({ fields: ['email'], unique: true })
  expect((await latchkey(['createindex', 'users', 'email', 'name'])).code).toBe(0)
  expect(JSON.parse(seen[2]?.text ?? '')).toEqual({ fields: ['email', 'name'] })
  const removed = await latchkey(['removeindex', '-c', 'users', '-i', 'email'])
  expect(removed).toMatchObject({ code: 0, stdout: 'Removed index for email\n' })
})

test('removeindex names the indexes that there were, and the others', async () => {
  const remove = (text: string) => {
    const [field] = JSON.parse(text).fields
    return field === 'tags'
      ? { status: 204 }
      : problem(field === '$x' ? 400 : 404, field === '$x' ? 'query_invalid' : 'not_found')
  }
  const { latchkey, seen } = await at({ 'DELETE /collections/users/indexes': remove })
  const some = await latchkey(['removeindex', 'users', 'nosuch', 'tags'])
  expect(some).toMatchObject({ code: 6, stdout: 'Removed index for tags\n' })
  expect(some.stderr).toContain('error: There is no index for nosuch in users.\n')
  expect(seen.map(({ text }) => JSON.parse(text))).toEqual([
    { fields: ['nosuch'], confirm: 'nosuch' },
    { fields: ['tags'], confirm: 'tags' },
  ])
  const none = await latchkey(['removeindex', 'users', 'a,b'])
  expect(none).toMatchObject({ code: 1, stdout: '' })
  expect(none.stderr).toContain('error: There is no index for a, b in users.\n')
  const broken = await latchkey(['removeindex', 'users', 'tags', '$x'])
  expect(broken).toMatchObject({ code: 1, stdout: '' })
  expect(broken.stderr).toContain('The server says query_invalid.\nRemoved before: index for tags\n')
})
