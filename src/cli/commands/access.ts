import { parseCidr } from '../../lib/ip-address.js'
import { createIpSet } from '../../lib/ip-ranges.js'
import { defineCommand } from '../command.js'
import type {
  AccessReport,
  ApiTokenLine,
  Home,
  HomeDescription,
  KeySetCheck,
  NetworkChange,
  SpaceSummary,
} from '../home.js'
import type { Output } from '../output.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'

export const info = defineCommand({
  example: 'latchkey info --examples',
  options: [['--examples', 'Print curl lines, too']],
  async run({ output, home }, { examples = false }) {
    const opened = await home()
    const [description, space, access, tokens] = await Promise.all([
      opened.describe(),
      opened.readSpace(),
      opened.readAccess(),
      opened.listApiTokens({ limit: 200 }),
    ])
    const shown = examples ? exampleLines(space?.url ?? description.url) : []
    const value = {
      ...description,
      ...(space && { space }),
      tokens: tokens.items,
      access,
      ...(examples && { examples: shown }),
    }
    output.result(value, [...infoLines(description, access, tokens.items), ...spaceLines(space), ...shown])
  },
})

function infoLines(
  { home, url, version }: HomeDescription,
  access: AccessReport,
  tokens: readonly ApiTokenLine[],
): string[] {
  const keySet = access.keySet
  const keys =
    keySet === null ? '' : `  (${keySet.ok ? `${keySet.keys.length} keys` : `fault: ${keySet.fault ?? 'unknown'}`})`
  return [
    `Home       ${home}, latchkey ${version}`,
    `URL        ${url}`,
    ...(tokens.length === 0
      ? ['Tokens     none']
      : tokens.map((token, at) => `${at === 0 ? 'Tokens   ' : '         '}  ${masked(token)}`)),
    ...networkLines(access).map((line, at) => `${at === 0 ? 'Whitelist' : '         '}  ${line}`),
    `JWKS       ${access.jwksUrl ?? 'none'}${access.jwksUrl === null ? '' : keys}`,
  ]
}

/** The store keeps a digest, so no part of the token itself can be shown. */
function masked({ id, name, access }: ApiTokenLine): string {
  return `********  ${access}  ${name}  (${id})`
}

/** @param url of the application, or of the space */
function exampleLines(url: string): string[] {
  const route = `${url}/<route>`
  return [
    '',
    'With an API token, server side only:',
    `  curl -H 'x-apikey: <API_KEY>' '${route}'`,
    `  curl '${route}?apikey=<API_KEY>'`,
    'With a JWT of the identity provider:',
    `  curl -H 'Authorization: Bearer <JWT>' '${route}'`,
  ]
}

/** What `info` adds in a space host. */
function spaceLines(space: SpaceSummary | null): string[] {
  if (space === null) return []
  const { name, url, release, environment } = space
  return [
    `Space      ${name}${url === null ? '' : `, ${url}`}`,
    `Release    ${release ?? 'none'}`,
    `Env        ${environment.join(', ') || 'none'}`,
  ]
}

/** The allow-list, and whether the caller is on it. */
function networkLines({ allowList, you }: AccessReport): string[] {
  const { fixed, added } = allowList
  const lines = [...fixed.map((network) => `${network}  (in the settings)`), ...added]
  const everyone = lines.length === 0 ? ['The whitelist is empty: every IP address may use the API.'] : []
  const own = you === null ? [] : [`Your own address ${you.ip} may ${you.allowed ? '' : 'not '}use the API.`]
  return [...everyone, ...lines, ...own]
}

export const whitelist = defineCommand({
  example: 'latchkey whitelist 203.0.113.7',
  arguments: [['[ip]', 'address or CIDR to add; without one, the list is printed']],
  options: [
    ['--force', 'Add it also if your own address is not on the list then; needs --confirm'],
    ['--confirm <address>', 'Your own address, with --force'],
  ],
  async run(tool, network, options) {
    if (network === undefined) {
      const report = await (await tool.home()).readAccess()
      tool.output.result(report, networkLines(report))
      return
    }
    if (parseCidr(network) === null) throw usage(`${network} is neither an IP address nor a CIDR.`)
    const home = await tool.homeToChange()
    const report = await home.readAccess()
    const agreed = await askAboutFirst(tool, report, network, options)
    const input = { change: { network }, options: agreed, ownIp: report.you?.ip ?? null }
    const view = await changeNetworks(tool, input, (change) => home.allowNetwork(change))
    tool.output.result(view, [`IP ${network} added to whitelist. Use 'latchkey info' to see all IP addresses.`])
  },
})

/** The first entry excludes every other address, so the person confirms it: by typing their own address if that is excluded. */
async function askAboutFirst(
  { prompts }: Tool,
  { allowList, you }: AccessReport,
  network: string,
  options: LockOutOptions,
): Promise<LockOutOptions> {
  const isFirst = allowList.fixed.length + allowList.added.length === 0
  if (options.force || !isFirst) return options
  const question = `From now on only ${network} may use the API.`
  if (you !== null && !createIpSet([network])(you.ip)) {
    const excluded = `${question} Your own address ${you.ip} is not on the list.`
    return { force: true, confirm: await prompts.name(excluded, you.ip, options.confirm) }
  }
  await prompts.agree(question)
  return options
}

export const whitelistRemove = defineCommand({
  example: 'latchkey whitelist-remove 203.0.113.7',
  arguments: [['<ip>', 'address or CIDR, as latchkey whitelist prints it']],
  options: [
    ['--force', 'Remove it also if your own address is not on the list then; needs --confirm'],
    ['--confirm <name>', 'Your own address, with --force; or everyone, for the last entry'],
  ],
  async run(tool, network, options) {
    const home = await tool.homeToChange()
    const { allowList, you } = await home.readAccess()
    const isLast = allowList.fixed.length === 0 && allowList.added.length === 1
    const question = 'This is the last entry. Without it, every address may use the API.'
    const confirmed = isLast ? { confirm: await tool.prompts.name(question, 'everyone', options.confirm) } : {}
    const input = { change: { network }, options: { ...options, ...confirmed }, ownIp: you?.ip ?? null }
    await changeNetworks(tool, input, (change) => home.disallowNetwork(change))
    const line = `IP ${network} removed from whitelist. Use 'latchkey info' to see all IP addresses.`
    tool.output.result({ network, removed: true }, [line])
  },
})

type LockOutOptions = Pick<NetworkChange, 'force' | 'confirm'>

/**
 * Makes a change of the allow-list. When the server refuses it because the caller's own address would not be on the list, the
 * person may confirm by typing that address.
 *
 * @throws {ToolError} `would_lock_out`, with the options that confirm it
 */
async function changeNetworks<T>(
  { prompts }: Pick<Tool, 'prompts'>,
  { change, options, ownIp }: { change: NetworkChange; options: LockOutOptions; ownIp: string | null },
  send: (change: NetworkChange) => Promise<T>,
): Promise<T> {
  const { force = false, confirm } = options
  try {
    return await send({ ...change, ...(force && { force }), ...(confirm !== undefined && { confirm }) })
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'would_lock_out' || ownIp === null || force) throw error
    const question = `After this your own address ${ownIp} may no longer use the API.`
    return send({ ...change, force: true, confirm: await prompts.name(question, ownIp, undefined) })
  }
}

const faults: Readonly<Record<string, string>> = {
  not_allowed: 'this address may not be used',
  unreachable: 'the address cannot be reached',
  redirected: 'the address redirects, which is not followed',
  too_large: 'the answer is too large',
  not_a_key_set: 'the answer is no JSON Web Key Set',
}

export const jwks = defineCommand({
  example: 'latchkey jwks https://tenant.example.com/.well-known/jwks.json',
  arguments: [['[url]', 'of the key set; "" removes it; without one, the URL in force is printed']],
  options: [
    ['--remove', 'Remove the URL, so that the one of the settings is in force'],
    ['--no-check', 'Set the URL without fetching its keys first'],
  ],
  async run({ output, home, homeToChange }, url, { remove = false, check }) {
    if (remove && url) throw usage('Give either a URL or --remove, not both.')
    if (remove || url === '') await removeKeySet(await homeToChange(), output)
    else if (url === undefined) await show(await home(), output)
    else await setKeySet(await homeToChange(), output, url, check)
  },
})

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
