// What the command `latchkey` costs beside the start of node and curl. Interleaved, medians.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, shuffled, spread, table } from './numbers.js'
import { ask, launch, message } from './process.js'

const main = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export async function benchTool({ runs = 21 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const instance = launch('instance.js')
  await message(instance)
  const secrets = [randomUUID() + randomUUID(), randomUUID() + randomUUID()]
  const given = { database: `sqlite:${join(folder, 'latchkey.db')}`, secrets, administered: true }
  const { baseUrl } = await ask(instance, { open: given })
  const { accessToken } = await ask(instance, { signIn: true })
  const { email, password } = await ask(instance, { account: true })
  const runIn = (command, args, input) => run(folder, command, args, input)
  runIn(process.execPath, [main, 'login', baseUrl, '--password', '-', '--email', email], password)

  const bearer = `authorization: Bearer ${accessToken}`
  const contenders = {
    'node -e 0': () => runIn(process.execPath, ['-e', '0']),
    'latchkey --version': () => runIn(process.execPath, [main, '--version']),
    curl: () => runIn('curl', ['-sf', '-H', bearer, `${baseUrl}/auth/admin/api/tokens`]),
    'latchkey tokens': () => runIn(process.execPath, [main, 'tokens', '--url', baseUrl]),
  }
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  for (let round = -2; round < runs; round += 1) {
    for (const name of shuffled(Object.keys(contenders))) {
      const began = performance.now()
      contenders[name]()
      if (round >= 0) samples[name].push(performance.now() - began)
    }
  }
  instance.disconnect()
  rmSync(folder, { recursive: true, force: true })
  return report(samples)
}

function run(folder, command, args, input = '') {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: folder }
  const { status, stderr } = spawnSync(command, args, { cwd: folder, env, input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}: ${stderr}`)
}

function report(samples) {
  const rows = Object.entries(samples).map(([name, values]) => [
    name,
    median(values).toFixed(0),
    `${(100 * spread(values)).toFixed(1)}%`,
  ])
  const ratio = (name, ...baselines) => {
    const each = samples[name].map((value, run) => value / baselines.reduce((sum, base) => sum + samples[base][run], 0))
    return median(each)
  }
  const version = ratio('latchkey --version', 'node -e 0')
  const tokens = ratio('latchkey tokens', 'curl', 'node -e 0')
  return {
    table: table([['a command', 'ms', '±'], ...rows]),
    results: [
      { name: 'latchkey --version / node -e 0', value: version.toFixed(2), target: '≤ 1.60', pass: version <= 1.6 },
      { name: 'latchkey tokens / (curl + node)', value: tokens.toFixed(2), target: '≤ 2.20', pass: tokens <= 2.2 },
    ],
  }
}
