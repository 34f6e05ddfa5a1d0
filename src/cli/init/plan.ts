import type { Change } from './change.js'
import { editEntry, linesToPaste, type Wiring } from './code/edit-entry.js'
import type { SourceFile } from './code/source-file.js'
import { ambiguous, type Entry, findEntry } from './entry.js'
import { addVariables, variableOf } from './environment-file.js'
import { type Facts, readFacts } from './facts.js'
import { ignoreFiles } from './ignored-files.js'
import { findPort } from './port.js'
import type { Project } from './project.js'
import { faultOfApplication, faultOfFiles, faultOfModules, misplacedOutput } from './refusals.js'
import { pathFromEntry, runsTypeScript, type SettingsModule, settingsModule } from './settings-module.js'
import { type Starter, starterText } from './starters.js'

/** What the plan depends on besides the folder. */
export interface Conditions {
  /** `process.versions.node` */
  nodeVersion: string
  createSecret(): string
}

/** Lines for the developer to add, and why `init` does not. */
export interface Paste {
  lines: readonly string[]
  reason: string
}

export interface ReadyPlan {
  outcome: 'ready'
  changes: readonly Change[]
  paste: Paste | null
  facts: Facts
  entry: Entry
  settingsPath: string
  /** Where browsers reach the application. */
  baseUrl: string
  /** Variables of `.env` that have no value. */
  empty: readonly string[]
}

export type Plan =
  | ReadyPlan
  | { outcome: 'present'; sentence: string }
  | { outcome: 'refused'; exitCode: 1 | 2; sentence: string }

/**
 * Plans what `init` writes, and writes nothing. Refused with 2: this is no folder of an application. With 1: nothing can be
 * done here.
 */
export function planInit(project: Project, conditions: Conditions): Plan {
  const facts = readFacts(project)
  if (facts === null) {
    const sentence = 'There is no package.json in this folder. Go to the folder of the application, or run: npm init'
    return { outcome: 'refused', exitCode: 2, sentence }
  }
  const present = facts.sources.find(isInitialized)
  if (present) return { outcome: 'present', sentence: `${present.path} calls Latchkey already. Nothing was changed.` }

  const entry = findEntry(project, facts)
  const fault = faultOfApplication(facts) ?? faultOfModules(facts, entry)
  if (fault !== null) return refused(fault)
  const module = settingsModule(project, facts, entry, runsTypeScript(conditions.nodeVersion))
  if (module === null) return refused(misplacedOutput)
  const plan = readyPlan(project, { facts, entry, module, createSecret: conditions.createSecret })
  const fileFault = faultOfFiles(project, plan.changes)
  return fileFault === null ? plan : refused(fileFault)
}

interface Parts {
  facts: Facts
  entry: Entry
  module: SettingsModule
  createSecret: Conditions['createSecret']
}

function readyPlan(project: Project, { facts, entry, module, createSecret }: Parts): ReadyPlan {
  const before = project.read('.env')
  const ownSources = facts.sources.filter(({ path }) => path === entry.path)
  const listed = variableOf(before ?? '', 'PORT') ?? findPort(ownSources) ?? findPort(facts.sources)
  const port = Number(listed ?? 3000)
  const environment = addVariables(before ?? '', {
    // Not BASE_URL, which Vite and Vitest set to a path.
    APP_URL: `http://localhost:${port}`,
    JWT_ACCESS_TOKEN_SECRET: createSecret(),
    JWT_REFRESH_TOKEN_SECRET: createSecret(),
  })
  const { syntax } = entry
  const wiring = { syntax, settingsPath: pathFromEntry(module, entry.path, facts), exported: module.exported }
  const edited = entryChange(entry, wiring, { port, hasNodeTypes: facts.compiler?.hasNodeTypes === true })
  const ignored = project.read('.gitignore')
  const files = [
    ...Object.entries(module.files).map(([path, after]) => ({ path, before: null, after, isSecret: false })),
    ...(edited === null ? [] : [edited]),
    { path: '.env', before, after: environment.text, isSecret: true },
    { path: '.gitignore', before: ignored, after: ignoreFiles(ignored ?? ''), isSecret: false },
  ]
  return {
    outcome: 'ready',
    changes: files.filter(({ before: former, after }) => (former ?? '') !== after),
    paste: edited === null ? pasteOf(entry, wiring) : null,
    facts,
    entry,
    settingsPath: module.path,
    baseUrl: variableOf(environment.text, 'APP_URL') ?? '',
    empty: environment.empty,
  }
}

/** The application's file as it becomes; null where the lines have no safe place. */
function entryChange(entry: Entry, wiring: Wiring, starter: Pick<Starter, 'port' | 'hasNodeTypes'>): Change | null {
  const { path } = entry
  if (entry.kind === 'new') {
    const { syntax, isTypeScript, framework } = entry
    const after = starterText(framework, { ...starter, syntax, isTypeScript, settingsPath: wiring.settingsPath })
    return { path, before: null, after, isSecret: false }
  }
  if (entry.kind === 'unknown') return null
  const after = editEntry(entry.application, wiring)
  return after === null ? null : { path, before: entry.application.source.text, after, isSecret: false }
}

function pasteOf(entry: Entry, wiring: Wiring): Paste {
  const appName = entry.framework === 'node' ? 'server' : 'app'
  if (entry.kind === 'edited') return { lines: linesToPaste(wiring, entry.application.name), reason: ambiguous }
  return { lines: linesToPaste(wiring, appName), reason: entry.kind === 'unknown' ? entry.reason : ambiguous }
}

function isInitialized({ imports }: SourceFile): boolean {
  const calls = (clause: string) => /\b(?:init|createAuth)\b/.test(clause) || /^\*|^[\w$]+$/.test(clause)
  return imports.some(({ specifier, isTypeOnly, clause }) => specifier === 'latchkey' && !isTypeOnly && calls(clause))
}

function refused(sentence: string): Plan {
  return { outcome: 'refused', exitCode: 1, sentence }
}
