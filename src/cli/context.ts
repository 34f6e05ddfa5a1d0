import { type Address, parseAddress } from './address.js'
import { type Environment, isInteractive } from './environment.js'
import type { Credentials, SignIn } from './files/credentials.js'
import type { Home, LocalHome, RemoteHome } from './home.js'
import type { HostHome, LocalHostHome } from './host-home.js'
import { createOutput, type Output } from './output.js'
import { choosePlace, chooseSpace } from './place.js'
import { createPrompts } from './prompts.js'
import type { Client } from './remote/calls.js'
import type { Examined, GlobalOptions, LocalPlace, RemotePlace, Tool, ToolAccount } from './tool.js'
import { ToolError, usage } from './tool-error.js'

/** A tool that opens things when a command asks for them, and closes what it opened. */
export interface OpenTool extends Tool {
  close(): Promise<void>
}

/** @param command its name, such as `users show` */
export function createTool(environment: Environment, options: GlobalOptions, command: string): OpenTool {
  const output = createOutput(environment, options.json === true)
  const prompts = createPrompts(environment, options.yes === true)
  const place = () => choosePlace(environment, options)
  const account = () => openAccount({ environment, output, prompts, place })
  let opened: Promise<Home> | null = null

  const home = () => {
    opened ??= openHome({ environment, options, output, prompts, place, account })
    return opened
  }
  const remoteHome = async () => {
    // The store needs no opening to find out that it cannot do this.
    const open = place().mode === 'local' ? null : await home()
    if (open === null || !isRemote(open)) throw notHere()
    return open
  }
  let openedHost: Promise<HostHome> | null = null
  const hostHome = () => {
    const where = place()
    if (where.mode === 'local') throw notHere()
    openedHost ??= openHost({ environment, options, output, prompts, place, account, command }, where)
    return openedHost
  }
  const localHost = async () => requireLocalHost(await home())
  const adminTokens = async () => (place().mode === 'local' ? localHost() : hostHome())
  return {
    environment,
    options,
    output,
    prompts,
    place,
    home,
    homeToChange: async () => announced(output, await home()),
    async localHomeToChange() {
      const open = place().mode === 'remote' ? null : await home()
      if (open === null || !isLocal(open)) throw notRemote()
      return announced(output, open)
    },
    async localDatabase() {
      const where = place()
      if (where.mode === 'remote') throw notRemote()
      return (await loadLocal(environment, where)).database
    },
    remoteHome,
    remoteHomeToChange: async () => announced(output, await remoteHome()),
    hostHome: async () => hostHome(),
    hostHomeToChange: async () => announced(output, await hostHome()),
    adminTokens,
    adminTokensToChange: async () => announced(output, await adminTokens()),
    async localHostToChange() {
      if (place().mode === 'remote') throw notRemote('host')
      return announced(output, await localHost())
    },
    examined: () => examinedInput(environment, place()),
    account,
    close: async () => (await opened?.catch(() => null))?.close(),
  }
}

const inDatabase = 'Or work in its database, with --config latchkey.config.js'
const withToken = 'Or set LATCHKEY_ADMIN_TOKEN, for the commands that take an admin token'

type Parts = Pick<Tool, 'environment' | 'output' | 'prompts' | 'place'>
type ClientParts = Parts & Pick<Tool, 'account' | 'options'>

async function openHome(parts: ClientParts): Promise<Home> {
  const { environment, options } = parts
  const where = parts.place()
  if (where.mode === 'local') return (await loadLocal(environment, where)).openHome()
  const [{ createRemoteHome }, client] = await Promise.all([
    import('./remote/home.js'),
    signedInClient(parts, where, inDatabase),
  ])
  return createRemoteHome(client, where.address, () => chooseSpace(environment, options))
}

async function openHost(parts: ClientParts & { command: string }, where: RemotePlace): Promise<HostHome> {
  const { environment, options } = parts
  const [{ openHostHome }, client] = await Promise.all([import('./remote/host-home.js'), hostClient(parts, where)])
  return openHostHome(client, where.address, () => chooseSpace(environment, options))
}

/** With the admin token, where one is given and the command takes it. */
async function hostClient(parts: ClientParts & { command: string }, where: RemotePlace): Promise<Client> {
  const [{ refuseUncheckedTls }, { createCredentials }, { readAdminToken }] = await Promise.all([
    import('./remote/send.js'),
    import('./files/credentials.js'),
    import('./admin-token.js'),
  ])
  refuseUncheckedTls(parts.environment)
  const token = await readAdminToken(parts, where, () => {
    return createCredentials(parts.environment).read(where.address.api) !== null
  })
  if (token === null) return signedInClient(parts, where, withToken)
  const { createTokenClient } = await import('./remote/token-client.js')
  return createTokenClient(where.address, token)
}

async function signedInClient(
  { environment, output, account }: ClientParts,
  { address }: RemotePlace,
  otherWay: string,
) {
  const [{ refuseUncheckedTls }, { createClient }, { createCredentials }] = await Promise.all([
    import('./remote/send.js'),
    import('./remote/client.js'),
    import('./files/credentials.js'),
  ])
  refuseUncheckedTls(environment)
  const credentials = createCredentials(environment)
  const signInAgain = async () => {
    output.instruct('This needs a recent sign-in.')
    await (await account()).signInByApproval(address, true)
    const signIn = credentials.read(address.api)
    if (signIn === null) throw usage('The sign-in was removed meanwhile. Run latchkey login.')
    return signIn
  }
  return createClient({
    address,
    credentials,
    signInAgain: isInteractive(environment) ? signInAgain : null,
    otherWay,
  })
}

async function examinedInput(environment: Environment, place: ReturnType<Tool['place']>): Promise<Examined> {
  if (place.mode === 'remote') throw notRemote()
  if (place.of === 'host') {
    const { accountsInput, topics } = await loadHostAt(environment, place)
    return { home: 'host', input: accountsInput, topics: topics() }
  }
  const { loadExaminedInput } = await import('./local/application.js')
  return { home: 'application', input: await loadExaminedInput(environment, place), topics: [] }
}

/** Loads the settings. Loading a module runs it. */
async function loadLocal(environment: Environment, place: LocalPlace) {
  if (place.of === 'host') return loadHostAt(environment, place)
  const { loadApplication } = await import('./local/application.js')
  return loadApplication(environment, place)
}

async function loadHostAt(environment: Environment, place: LocalPlace) {
  const { loadHost } = await import('./local/host.js')
  return loadHost(environment, place)
}

async function openAccount({ environment, output, prompts, place }: Parts): Promise<ToolAccount> {
  const [{ refuseUncheckedTls }, { createCredentials }] = await Promise.all([
    import('./remote/send.js'),
    import('./files/credentials.js'),
  ])
  refuseUncheckedTls(environment)
  const credentials = createCredentials(environment)
  return {
    address: (url) => (url === undefined ? remoteAddress(place()) : parseAddress(url)),
    signInByApproval: (address, browser) =>
      replaceSignIn(credentials, address, async () => {
        const { signInByApproval } = await import('./remote/approval.js')
        return signInByApproval({ address, environment, output, browser })
      }),
    signInByPassword: (address, given) =>
      replaceSignIn(credentials, address, async () => {
        const { signInByPassword } = await import('./remote/password-sign-in.js')
        return signInByPassword({ address, given, environment, output, prompts })
      }),
    async signOut(address) {
      const { signOut } = await import('./remote/sign-out.js')
      return signOut(address, credentials)
    },
  }
}

/** Signs in and saves the new session. The one that it replaces is ended as far as the server can be reached. */
async function replaceSignIn(
  credentials: Credentials,
  address: Address,
  signIn: () => Promise<SignIn>,
): Promise<string> {
  const former = credentials.read(address.api) // Reports an unsafe file before anyone approves anything.
  const fresh = await signIn()
  await credentials.save(address.api, fresh)
  if (former !== null) {
    const { endSession } = await import('./remote/sign-out.js')
    await endSession(address, former)
  }
  return fresh.email
}

function remoteAddress(place: ReturnType<Tool['place']>): Address {
  if (place.mode === 'remote') return place.address
  throw usage('Give the URL of the application: latchkey login https://api.example.org')
}

function announced<H extends Pick<Home, 'target'>>(output: Output, home: H): H {
  output.note(home.target)
  return home
}

function isRemote(home: Home): home is RemoteHome {
  return home.mode === 'remote'
}

function isLocal(home: Home): home is LocalHome {
  return home.mode === 'local'
}

function isLocalHost(home: Home): home is LocalHostHome {
  return isLocal(home) && 'rotateKeys' in home
}

function requireLocalHost(home: Home): LocalHostHome {
  if (!isLocalHost(home)) throw noHost()
  return home
}

function notRemote(of: LocalPlace['of'] = 'application'): ToolError {
  const message = `This command needs the database of the ${of}. Run it on the machine of the ${of}, with --config <path>.`
  return new ToolError(4, 'not_here', message)
}

function noHost(): ToolError {
  const message = 'This command needs a space host. Add --config latchkey.host.json in its folder, or --url <url>.'
  return new ToolError(4, 'not_here', message)
}

function notHere(): ToolError {
  return new ToolError(
    4,
    'not_here',
    'This command needs the running application. Sign in with latchkey login <url>, and add --url <url>.',
  )
}
