import { defineCommand, type OptionsOf } from '../command.js'
import { variable } from '../environment.js'
import { writeProjectFile } from '../files/project-file.js'
import type { PasswordOptions, Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'

const loginOptions = [
  ['--no-browser', 'Do not open the page in a browser'],
  ['--password [password]', 'Sign in with address and password; - reads the password from stdin'],
  ['--email <address>', 'The address, with --password'],
  ['--code <code>', 'A code of the second factor, with --password; - reads it from stdin'],
] as const

export const login = defineCommand({
  example: 'latchkey login https://api.example.org',
  arguments: [['[url]', 'of the application, such as https://api.example.org']],
  options: loginOptions,
  async run(tool, url, options) {
    const account = await tool.account()
    const given = afterPassword(url, options)
    const address = account.address(given.url)
    if (given.password) requireNamed(tool, given.url)
    const email = given.password
      ? await account.signInByPassword(address, given.password)
      : await account.signInByApproval(address, options.browser)
    const note = given.url === undefined ? null : writeProjectFile(tool.environment, address.site)
    if (note !== null) tool.output.note(note)
    const value = { url: address.site, email }
    tool.output.result(value, [`Signed in to ${address.site} as ${email}`])
  },
})

/** A `latchkey.json` of a cloned folder may name a stranger's server, which must not get a password. @throws {ToolError} usage */
function requireNamed({ environment, options }: Tool, url: string | undefined): void {
  if ((url ?? options.url ?? variable(environment, 'LATCHKEY_URL')) !== null) return
  throw usage('Name the application that gets the password: latchkey login https://api.example.org --password')
}

/** `login --password https://…` names the application: the option takes the next word, but no password is a URL. */
function afterPassword(
  url: string | undefined,
  { password, email, code }: OptionsOf<typeof loginOptions>,
): { url?: string; password: PasswordOptions | null } {
  const isUrl = url === undefined && typeof password === 'string' && /^https?:\/\//.test(password)
  const site = isUrl ? password : url
  const secret = isUrl || password === true ? undefined : password
  const account = {
    ...(secret !== undefined && { password: secret }),
    ...(email !== undefined && { email }),
    ...(code !== undefined && { code }),
  }
  return { ...(site !== undefined && { url: site }), password: password === undefined ? null : account }
}

export const logout = defineCommand({
  example: 'latchkey logout https://api.example.org',
  arguments: [['[url]', 'of the application']],
  async run({ output, account }, url) {
    const signedIn = await account()
    const address = signedIn.address(url)
    const ended = await signedIn.signOut(address)
    output.result({ url: address.site, ended }, [`Signed out of ${address.site}`])
    if (!ended) {
      throw new ToolError(
        6,
        'session_not_ended',
        'The sign-in is removed here, but the server did not end its session.',
      )
    }
  },
})

export const whoami = defineCommand({
  example: 'latchkey whoami',
  async run({ output, remoteHome }) {
    const description = await (await remoteHome()).describe()
    const { user, url } = description
    output.result(description, [`${user?.email ?? ''}, ${user?.right ?? ''} of ${url}`])
  },
})
