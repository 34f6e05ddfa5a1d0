import type { Change } from './change.js'
import type { Entry } from './entry.js'
import type { Facts } from './facts.js'
import type { Project } from './project.js'

/** Frameworks that have no `init(app, settings)`, or no adapter at all. */
const elsewhere: readonly (readonly [dependency: string, sentence: string])[] = [
  [
    'next',
    'A Next.js application needs route handlers. Follow docs/guides/frameworks/nextjs.md of the package latchkey.',
  ],
  [
    'codehooks-js',
    'A codehooks-js application keeps accounts in its Datastore. Follow docs/guides/frameworks/codehooks-js.md of the package latchkey.',
  ],
  ['connect', 'For connect, add the lines of docs/guides/frameworks/node-http.md of the package latchkey.'],
  ['@nestjs/core', 'Latchkey has no adapter for NestJS.'],
  ['koa', 'Latchkey has no adapter for Koa.'],
  ['@hapi/hapi', 'Latchkey has no adapter for hapi.'],
]

/** Why `init` can do nothing for this application; null when it can. */
export function faultOfApplication(facts: Facts): string | null {
  if (!facts.frameworks.includes('node')) return null
  return elsewhere.find(([dependency]) => facts.dependencies.has(dependency))?.[1] ?? null
}

/** Why the application's file cannot have import statements; null when it can. */
export function faultOfModules({ compiler, moduleType }: Facts, { isTypeScript, path }: Entry): string | null {
  const isCommonJs = moduleType !== 'module' && !path.endsWith('.mts')
  if (!isTypeScript || !isCommonJs || compiler?.isVerbatim !== true) return null
  return 'With verbatimModuleSyntax in tsconfig.json, TypeScript allows no import in CommonJS. Add "type": "module" to package.json.'
}

export const misplacedOutput =
  'The folders outDir and rootDir of tsconfig.json have different depths, so the compiled application could not import latchkey.config.js. ' +
  'Write the settings and the call of init by hand, as docs/guides/quickstart.md of the package latchkey shows.'

/** Why one of the files cannot be written; null when all can. Links are never followed to write. */
export function faultOfFiles(project: Project, changes: readonly Change[]): string | null {
  for (const { path, before, isSecret } of changes) {
    const kind = project.kindOf(path)
    const instead = isSecret
      ? ' Add the lines that `latchkey secret` prints to the file that the application reads.'
      : ''
    if (kind === 'other') return `${path} is a link or a folder, and init writes to files only.${instead}`
    if (kind === 'file' && before === null) return `${path} cannot be read as a text in UTF-8, so it was left as it is.`
  }
  return null
}
