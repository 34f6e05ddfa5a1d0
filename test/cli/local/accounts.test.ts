import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { secretsForEnvironment } from '../../support/application-folder.js'
import { ada, testAuth } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { admin, type LocalDesk, openLocalDesk } from '../../support/local-desk.js'
import { addPasskey, origin, passkeyLogin } from '../../support/passkey-browser.js'

const bob = { email: 'bob@example.org', password: 'an analytical engine of steel', name: 'Bob', roles: ['EDITOR'] }

async function migrated(): Promise<LocalDesk> {
  const desk = await openLocalDesk()
  await desk.run(['migrate'])
  return desk
}

describe('create-admin', { timeout: 60_000 }, () => {
  test('ends the sessions of a verified account, and replaces its password', async () => {
    const desk = await openLocalDesk()
    const { auth, url } = await desk.start()
    const signIn = async (password: string) => {
      const body = JSON.stringify({ email: admin.email, password, mode: 'token' })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${url}/auth/login`, { method: 'POST', headers, body })).status
    }
    const { id } = await auth.users.create({ ...admin, name: 'Ann', emailVerified: true })
    expect(await signIn(admin.password)).toBe(200)
    const fresh = 'another engine of brass'
    const done = await desk.run(['create-admin', admin.email, '--password', '-'], { input: fresh })
    expect(done).toMatchObject({ code: 0, stdout: `Account ${admin.email} has the role ADMIN and a new password.\n` })
    expect((await auth.sessions.list(id)).items).toEqual([])
    expect([await signIn(admin.password), await signIn(fresh)]).toEqual([401, 200])
    expect(await auth.users.get(id)).toMatchObject({ name: 'Ann', roles: ['ADMIN'] })
  })

  test('takes password and name from an account whose address was never confirmed', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    const { id } = await auth.users.create({ ...admin, name: 'Mallory' })
    expect(await desk.run(['create-admin', admin.email, '--invite'])).toMatchObject({ code: 0 })
    expect(await auth.users.get(id)).toMatchObject({ name: null, emailVerified: true, roles: ['ADMIN'] })
    const { items } = await auth.audit.list({ userId: id })
    expect(items[0]).toMatchObject({ event: 'account_updated', actor: { kind: 'tool' }, detail: { invited: true } })
  })

  test('leaves a disabled account, and names the command that enables it', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    const { id } = await auth.users.create({ ...admin })
    await auth.users.disable(id)
    const refused = await desk.run(['create-admin', admin.email, '--invite'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('latchkey users enable')
  })

  test('takes an account that was disabled until a moment that has passed, as one that is enabled', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    const { id } = await auth.users.create({ ...admin })
    await auth.users.disable(id, { reason: 'chargeback', until: new Date(Date.now() + 3_600_000) })
    expect((await desk.run(['users', 'show', id])).stdout).toMatch(/^State +disabled until \S+Z \(chargeback\)$/m)
    expect(await desk.run(['create-admin', admin.email, '--invite'])).toMatchObject({ code: 1, stdout: '' })

    const database = new Database(join(desk.folder, 'latchkey.db'))
    database.exec('update latchkey_users set disabled_at = 1, disabled_until = 2')
    database.close()
    expect((await desk.run(['users', 'show', id])).stdout).toMatch(/^State +enabled$/m)
    expect((await desk.run(['users'])).stdout).toMatch(/ {2}enabled {2}/)
    expect(await desk.run(['create-admin', admin.email, '--invite'])).toMatchObject({ code: 0 })
  })
})

describe('users', { timeout: 60_000 }, () => {
  test('are created, disabled, shown and deleted by the tool as the actor', async () => {
    const desk = await migrated()
    expect(await desk.run(['users', 'create', bob.email, '--role', 'EDITOR'])).toMatchObject({ code: 0 })
    expect(await desk.run(['users', 'disable', bob.email, '--reason', 'chargeback'])).toMatchObject({ code: 0 })
    expect((await desk.run(['users', 'show', bob.email])).stdout).toMatch(/^State +disabled \(chargeback\)$/m)
    for (const command of ['enable', 'end-sessions', 'reset-password']) {
      expect(await desk.run(['users', command, bob.email, '--yes'])).toMatchObject({ code: 0 })
    }
    // The account has no second factor.
    expect(await desk.run(['users', 'remove-two-factor', bob.email, '--yes'])).toMatchObject({ code: 1, stdout: '' })
    expect(await desk.run(['users', 'delete', bob.email, '--confirm', bob.email])).toMatchObject({ code: 0 })
    const { stdout } = await desk.run(['audit', '--json', '--event', 'account_deleted'])
    expect(JSON.parse(stdout).items).toMatchObject([{ actor: { kind: 'tool' } }])
    expect(await desk.run(['audit', '--event', 'no_such'])).toMatchObject({ code: 1, stdout: '' })
  })

  test('leave by an export and come back by an import with their passwords, roles and states', async () => {
    const desk = await openLocalDesk()
    const { auth } = await desk.start()
    await auth.users.create({ ...bob, emailVerified: true })
    const carol = await auth.users.create({ ...bob, email: 'carol@example.org' })
    await auth.users.disable(carol.id)
    const done = await desk.run(['users', 'export', '-f', 'accounts.jsonl'])
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Exported 2 accounts to accounts\.jsonl\./) })
    const file = join(desk.folder, 'accounts.jsonl')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await auth.audit.list({ event: 'users_exported' })).items).toMatchObject([{ actor: { kind: 'tool' } }])

    const other = await openLocalDesk()
    const { auth: second, url } = await other.start()
    const text = await readFile(file, 'utf8')
    expect(await other.run(['users', 'import', '-'], { input: text })).toMatchObject({
      code: 0,
      stdout: 'Created 2, skipped 0, failed 0.\n',
    })
    expect(await second.users.findByEmail(bob.email)).toMatchObject({ emailVerified: true, roles: ['EDITOR'] })
    expect((await second.users.findByEmail('carol@example.org'))?.disabledAt).not.toBeNull()
    const body = JSON.stringify({ email: bob.email, password: bob.password, mode: 'token' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${url}/auth/login`, { method: 'POST', headers, body })).status).toBe(200)
  })

  test('take their passkeys along, which sign in afterwards', async () => {
    const place = async () => {
      const secrets = secretsForEnvironment()
      const desk = await openLocalDesk({ secrets, more: `baseUrl: '${origin}'` })
      await desk.run(['migrate'])
      const open = () => testAuth({ ...secrets, database: `sqlite:${join(desk.folder, 'latchkey.db')}` })
      return { desk, open }
    }
    const [first, second] = [await place(), await place()]
    const device = createAuthenticator({ origin })
    const browser = (await first.open()).client()
    await browser.signUp(ada)
    await addPasskey(browser, device, { name: 'Phone' })

    expect(await first.desk.run(['users', 'export', '-f', 'accounts.jsonl'])).toMatchObject({ code: 0 })
    const input = await readFile(join(first.desk.folder, 'accounts.jsonl'), 'utf8')
    expect(JSON.parse(input)).toMatchObject({ passkeys: [{ name: 'Phone', rpId: 'localhost' }] })
    expect(await second.desk.run(['users', 'import', '-'], { input })).toMatchObject({ code: 0 })
    const { status, body } = await passkeyLogin((await second.open()).client(), device)
    expect([status, body]).toMatchObject([200, { user: { email: ada.email } }])
    const { stdout } = await second.desk.run(['users', 'import', '-'], { input })
    expect(stdout).toBe('Created 0, skipped 1, failed 0.\n')
  })

  test('of a file with faults are created where they have none, and the faults are listed by line', async () => {
    const desk = await migrated()
    const lines = [
      JSON.stringify({ email: bob.email }),
      '',
      'no json',
      JSON.stringify({ email: 'carol@example.org', passwordHash: 'md5' }),
      JSON.stringify({ email: 'not an address' }),
      JSON.stringify({ email: bob.email }),
    ]
    await writeFile(join(desk.folder, 'accounts.jsonl'), lines.join('\n'))
    const done = await desk.run(['users', 'import', 'accounts.jsonl'])
    expect(done).toMatchObject({ code: 6, stdout: 'Created 1, skipped 1, failed 3.\n' })
    expect(done.stderr).toContain(
      '  line 3: no JSON object\n  line 4: passwordHash: hash_unsupported\n  line 5: email: invalid_request\n',
    )
    expect(done.stderr).toContain('  line 6: skipped')
    const list = JSON.stringify([{ email: 'dora@example.org' }, { email: 'emil@example.org' }], null, 2)
    expect(await desk.run(['users', 'import', '-'], { input: list })).toMatchObject({ code: 0 })
    expect(await desk.run(['users', 'import', '-'], { input: '[{]' })).toMatchObject({ code: 2, stdout: '' })
    expect(await desk.run(['users', 'import', 'missing.jsonl'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('ATK-145 files of an export', { timeout: 60_000 }, () => {
  test('an existing file and a link are replaced only with --force, and a device never', async () => {
    const desk = await migrated()
    const [kept, link] = [join(desk.folder, 'kept.jsonl'), join(desk.folder, 'link.jsonl')]
    await writeFile(kept, 'kept')
    await symlink(kept, link)
    for (const name of ['kept.jsonl', 'link.jsonl']) {
      expect(await desk.run(['users', 'export', '-f', name])).toMatchObject({ code: 2, stdout: '' })
    }
    expect(await desk.run(['users', 'export', '-f', 'link.jsonl', '--force'])).toMatchObject({ code: 0 })
    expect(await readFile(kept, 'utf8')).toBe('kept')
    const device = await desk.run(['users', 'export', '-f', '/dev/full', '--force'])
    expect(device).toMatchObject({ code: 2, stderr: expect.stringContaining('/dev/full is not a file.') })
    expect((await stat('/dev/full')).isCharacterDevice()).toBe(true)
  })

  test('a full disk and a folder that is missing or read-only are a sentence and an exit code', async () => {
    const desk = await migrated()
    await desk.run(['users', 'create', bob.email, '--no-invite'])
    const full = await desk.shell('users export -f - > /dev/full')
    expect(full.code).toBe(1)
    expect(full.stderr).toContain('The output could not be written: the disk is full.')
    const missing = await desk.run(['users', 'export', '-f', 'no/such/folder.jsonl'])
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no folder') })
    const inProc = await desk.run(['users', 'export', '-f', '/proc/accounts.jsonl'])
    expect(inProc.code).not.toBe(0)
    for (const { stderr } of [full, missing, inProc]) expect(stderr).not.toMatch(/^ +at /m)
  })

  test('a database that this user may not write is a sentence and an exit code', async () => {
    const desk = await migrated()
    await chmod(join(desk.folder, 'latchkey.db'), 0o400)
    const refused = await desk.shell('add-token', { unprivileged: true })
    expect(refused.code).toBe(5)
    expect(refused.stderr).toMatch(/read-only for this process|cannot be opened/)
    expect(refused.stderr).not.toMatch(/^ +at /m)
  })
})
