import type { Command } from 'commander'
import { variable } from '../../environment.js'
import { writeProjectFile } from '../../files/project-file.js'
import type { PasswordOptions, Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'

interface Options {
  browser: boolean
  email?: string
  /** True: ask for it. */
  password?: string | true
  code?: string
}

export const example = 'latchkey login https://api.example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[url]', 'of the application, such as https://api.example.org')
    .option('--no-browser', 'Do not open the page in a browser')
    .option('--password [password]', 'Sign in with address and password; - reads the password from stdin')
    .option('--email <address>', 'The address, with --password')
    .option('--code <code>', 'A code of the second factor, with --password; - reads it from stdin')
    .action(async (url: string | undefined, options: Options) => {
      const tool = open()
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
    })
}

/** A `latchkey.json` of a cloned folder may name a stranger's server, which must not get a password. @throws {ToolError} usage */
function requireNamed({ environment, options }: Tool, url: string | undefined): void {
  if ((url ?? options.url ?? variable(environment, 'LATCHKEY_URL')) !== null) return
  throw usage('Name the application that gets the password: latchkey login https://api.example.org --password')
}

/** `login --password https://…` names the application: the option takes the next word, but no password is a URL. */
function afterPassword(
  url: string | undefined,
  { password, email, code }: Options,
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
