import type { Command } from 'commander'
import type { Home, KeySetCheck } from '../../home.js'
import type { Output } from '../../output.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'

interface Options {
  remove?: boolean
  check: boolean
}

const faults: Readonly<Record<string, string>> = {
  not_allowed: 'this address may not be used',
  unreachable: 'the address cannot be reached',
  redirected: 'the address redirects, which is not followed',
  too_large: 'the answer is too large',
  not_a_key_set: 'the answer is no JSON Web Key Set',
}

export const example = 'latchkey jwks https://tenant.example.com/.well-known/jwks.json'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[url]', 'of the key set; "" removes it; without one, the URL in force is printed')
    .option('--remove', 'Remove the URL, so that the one of the settings is in force')
    .option('--no-check', 'Set the URL without fetching its keys first')
    .action(async (url: string | undefined, { remove = false, check }: Options) => {
      const { output, home, homeToChange } = open()
      if (remove && url) throw usage('Give either a URL or --remove, not both.')
      if (remove || url === '') await removeKeySet(await homeToChange(), output)
      else if (url === undefined) await show(await home(), output)
      else await setKeySet(await homeToChange(), output, url, check)
    })
}

async function setKeySet(home: Home, output: Output, url: string, check: boolean): Promise<void> {
  const found = check ? await home.checkKeySet(url) : null
  if (found && !found.ok)
    throw new ToolError(1, 'jwks_check_failed', `${faultOf(found)}. --no-check sets the URL anyway.`)
  const view = await home.setKeySet(url)
  const keys = found === null ? [] : [keysLine(found)]
  output.result({ ...view, ...(found && { keys: found.keys }) }, [`Set JWKS url for ${await place(home)}`, ...keys])
}

async function removeKeySet(home: Home, output: Output): Promise<void> {
  const view = await home.setKeySet(null)
  const rest = view.jwksUrl === null ? [] : [`In force is the one of the settings: ${view.jwksUrl}`]
  output.result(view, [`Removed JWKS url for ${await place(home)}`, ...rest])
}

async function show(home: Home, output: Output): Promise<void> {
  const report = await home.readAccess()
  output.result(report, [report.jwksUrl ?? 'No JWKS url is set.'])
}

async function place(home: Home): Promise<string> {
  const space = await home.space()
  return space === null ? 'this application' : `space ${space}`
}

function keysLine({ keys }: KeySetCheck): string {
  const names = keys.map(({ alg, kid }) => [alg, kid].filter((part) => part !== null).join(' ') || 'without a name')
  return `${keys.length} ${keys.length === 1 ? 'key' : 'keys'}: ${names.join(', ')}`
}

function faultOf({ fault }: KeySetCheck): string {
  return `The key set was refused: ${faults[fault ?? ''] ?? fault ?? 'unknown reason'}`
}
