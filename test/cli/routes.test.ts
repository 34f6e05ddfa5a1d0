import { expect, test } from 'vitest'
import { parseAddress } from '../../src/cli/address.js'
import { commands } from '../../src/cli/commands/index.js'
import type { Credentials } from '../../src/cli/files/credentials.js'
import { createClient } from '../../src/cli/remote/client.js'
import { createRemoteHome } from '../../src/cli/remote/home.js'
import { controlPath } from '../../src/model/control-path.js'
import { controlRoutes } from '../../src/routes/admin/index.js'
import { startControlServer } from '../support/control-server.js'

/** Every route, and the command that calls it. The routes of a sign-in, and the echo of `doctor`, are
 * called without the home, so they are tested there.
 */
const routes = controlRoutes.flatMap(({ method, path, control }) => {
  const below = path.slice(controlPath.length) || '/'
  return below.startsWith('/device') || below === '/doctor/echo'
    ? []
    : [{ route: `${method} ${below}`, command: control?.command ?? null }]
})

test('the remote home calls routes of the control API only, and each that has a command', async () => {
  const called = await calledRoutes()
  const known = routes.map(({ route }) => route)
  expect(called.filter((route) => !known.includes(route))).toEqual([])
  const toCall = routes.filter(({ command }) => command !== null).map(({ route }) => route)
  expect(toCall.length).toBeGreaterThan(0)
  expect(toCall.filter((route) => !called.includes(route))).toEqual([])
})

test('the commands that the routes name are those of the tool', () => {
  const names = commands.map(([name]) => name)
  const unknown = routes.filter(({ command }) => command !== null && command !== 'doctor' && !names.includes(command))
  expect(unknown).toEqual([])
})

async function calledRoutes(): Promise<string[]> {
  const server = await startControlServer()
  const address = parseAddress(server.url)
  const signIn = {
    email: 'ann@example.org',
    accessToken: 'access-1',
    accessTokenExpiresAt: '2999-01-01T00:00:00.000Z',
    refreshToken: 'refresh-1',
  }
  const credentials: Credentials = { read: () => signIn, save: async () => {}, replace: async () => signIn }
  const home = createRemoteHome(
    createClient({ address, credentials, signInAgain: null, otherWay: '' }),
    address,
    () => 'dev',
  )
  const exported = home.exportAudit({})[Symbol.asyncIterator]()
  // The answers do not matter here, only which route each call goes to.
  await Promise.allSettled([
    home.describe(),
    home.createApiToken({ name: 'x' }),
    home.listApiTokens({}),
    home.removeApiToken('ID'),
    home.rotateApiToken('ID', {}),
    home.readAccess(),
    home.checkKeySet('x'),
    home.setKeySet(null),
    home.allowNetwork({ network: 'x' }),
    home.disallowNetwork({ network: 'x' }),
    home.listUsers({}),
    home.findUser('ID'),
    home.readUser('ID'),
    home.createUser({ email: 'x', invite: true }),
    home.disableUser('ID', { reason: 'x' }),
    home.enableUser('ID'),
    home.deleteUser('ID', 'x'),
    home.resetPassword('ID'),
    home.endUserSessions('ID'),
    home.removeTwoFactor('ID'),
    home.listAudit({}),
    exported.next(),
    home.verifyAudit(),
    home.listSessions({}),
    home.endSession('ID'),
    home.listMail({}),
    home.retryMail('ID'),
    home.dropMail('ID'),
    home.readDoctor(),
  ])
  return [...new Set(server.seen.map(({ route }) => route.replace('ID', ':id')))].sort()
}
