import type { PackageManager } from './facts.js'
import type { ReadyPlan } from './plan.js'
import { compiledPath, runsTypeScript } from './settings-module.js'

const commands: Readonly<
  Record<PackageManager, { add: string; addForDevelopment: string; run: string; execute: string }>
> = {
  npm: { add: 'npm install', addForDevelopment: 'npm install --save-dev', run: 'npm run', execute: 'npx' },
  pnpm: { add: 'pnpm add', addForDevelopment: 'pnpm add --save-dev', run: 'pnpm run', execute: 'pnpm exec' },
  yarn: { add: 'yarn add', addForDevelopment: 'yarn add --dev', run: 'yarn run', execute: 'yarn' },
  bun: { add: 'bun add', addForDevelopment: 'bun add --dev', run: 'bun run', execute: 'bunx' },
}

/** What the developer does after `init`, as numbered lines. */
export function nextSteps(plan: ReadyPlan, nodeVersion: string): string[] {
  const { facts, entry, settingsPath, baseUrl, empty, paste } = plan
  const { execute } = commands[facts.packageManager]
  const isNew = entry.kind === 'new'
  const steps = [
    ...(paste === null
      ? []
      : ['Add the lines above, after the line that makes the application and before its routes.']),
    ...installs(plan, nodeVersion),
    ...(empty.length > 0 ? [`Give ${empty.join(', ')} a value in .env.`] : []),
    `Start the application: ${startCommand(plan, nodeVersion)}`,
    `Open ${baseUrl}${isNew ? '/api/hello' : '/auth/register'} and create an account. Mails go to the mailbox page: the application prints its address.`,
    ...(isNew
      ? []
      : [`Requests below /api need a sign-in now. \`baseAPIRoutes\` in ${settingsPath} protects other paths.`]),
    `Make an administrator: add your address to \`admin.emails\` in ${settingsPath}, then run: ${execute} latchkey create-admin you@example.com`,
    `Before you deploy, set APP_URL to the public https address (\`baseUrl\` in ${settingsPath}; now ${baseUrl}).`,
  ]
  return steps.map((step, index) => `${index + 1}. ${step}`)
}

function installs({ facts, entry }: ReadyPlan, nodeVersion: string): string[] {
  const { add, addForDevelopment } = commands[facts.packageManager]
  const isHono = entry.kind === 'new' && entry.framework === 'hono'
  const needed = [
    'latchkey',
    ...(hasSqlite(nodeVersion) ? [] : ['better-sqlite3']),
    ...(isHono ? ['@hono/node-server'] : []),
  ]
  const types = [
    ...(entry.isTypeScript ? ['@types/node'] : []),
    ...(entry.isTypeScript && entry.framework === 'express' ? ['@types/express'] : []),
  ]
  const missing = needed.filter((name) => !facts.dependencies.has(name))
  const missingTypes = types.filter((name) => !facts.dependencies.has(name))
  return [
    ...(missing.length > 0 ? [`Install what is missing: ${add} ${missing.join(' ')}`] : []),
    ...(missingTypes.length > 0 ? [`Install the types: ${addForDevelopment} ${missingTypes.join(' ')}`] : []),
  ]
}

/** The script of package.json, or the program that runs the file. */
function startCommand({ facts, entry }: ReadyPlan, nodeVersion: string): string {
  const { run, execute } = commands[facts.packageManager]
  const script = ['dev', 'start'].find((name) => facts.scripts.has(name))
  if (script !== undefined) return `${run} ${script}`
  if (entry.kind === 'unknown') return 'as you do now'
  if (!entry.isTypeScript) return `node ${entry.path}`
  const compiled = compiledPath(facts, entry.path)
  if (compiled !== null) return `${execute} tsc, then node ${compiled}`
  return runsTypeScript(nodeVersion) ? `node ${entry.path}` : `${execute} tsx ${entry.path}`
}

/** Node has a driver of its own from 22.16 on. */
function hasSqlite(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 16)
}
