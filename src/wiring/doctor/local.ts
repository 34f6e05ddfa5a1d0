import { SettingsError } from '../../errors.js'
import { examine } from '../../flows/control/run-doctor.js'
import { createKeyring } from '../../lib/keyring.js'
import { packageVersion } from '../../lib/optional-package.js'
import { createRandom } from '../../lib/random.js'
import { createWorld, nowSeconds, type Runtime, type World } from '../../lib/runtime.js'
import { checkRows } from '../../model/doctor/checks.js'
import { doctorProofHeader, makeDoctorProof } from '../../model/doctor/proof.js'
import { type CheckResult, type DoctorReport, type Skipped, type Topic, toResults } from '../../model/doctor/report.js'
import { echoPath } from '../../model/doctor-echo.js'
import type { HomeName } from '../../model/home.js'
import type { Settings } from '../../settings.js'
import type { Store } from '../../store/store.js'
import { readMigrations } from '../dry-run.js'
import { openStore } from '../open-store.js'
import { readSettings } from '../settings.js'
import { type DoctorContext, once } from './context.js'
import { topicsOf } from './topics.js'

/** How the tool reaches the running application of these settings. */
export interface LocalTarget {
  /** Where browsers find the auth routes. */
  auth: string
  /** Headers that prove the tool to the application, made for each request. */
  credential(): Readonly<Record<string, string>>
  /** null when the store cannot be opened. */
  installationId: string | null
}

export interface LocalExamination {
  report: DoctorReport
  /** Or why the application cannot be asked. */
  target: LocalTarget | Skipped
}

export interface LocalExaminationOptions {
  runtime?: Runtime
  /** Default: an application. The control API of a host is always on. */
  home?: HomeName
  /** Topics of the home. */
  more?: readonly Topic[]
}

/**
 * Runs the checks of the local tool: by the settings of an application and its store, which is neither created nor migrated.
 *
 * @param input the settings as the application gives them to `init`
 */
export async function examineLocally(
  input: unknown,
  { runtime, home = 'application', more = [] }: LocalExaminationOptions = {},
): Promise<LocalExamination> {
  const world = createWorld(runtime)
  const clock = { now: () => nowSeconds(world), monotonicMs: world.monotonic }
  const settings = parsed(input, world)
  if (Array.isArray(settings)) {
    const { checkedAt } = await examine([], { timer: world.timer, clock })
    return {
      report: { checkedAt, checks: [...settings, ...skippedBySettings()] },
      target: { skipped: 'The settings are wrong.' },
    }
  }
  const { store, close, context } = contextOf(settings, world)
  try {
    const { checkedAt, checks } = await examine([...topicsOf(context, 'L'), ...more], { timer: world.timer, clock })
    const installationId = await store().then(
      (opened) => opened.installationId,
      () => null,
    )
    const sound = toResults('settings_fault', checkRows.settings_fault, null)
    return {
      report: { checkedAt, checks: [...sound, ...checks] },
      target: targetOf(settings, world, { home, installationId }),
    }
  } finally {
    await close()
  }
}

/** The settings, or the rows of their faults. */
function parsed(input: unknown, world: World): Settings | CheckResult[] {
  try {
    return readSettings(input, world)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const findings = error.faults.map(({ setting, message }) => ({ finding: `${setting}: ${message}` }))
    return toResults('settings_fault', checkRows.settings_fault, findings)
  }
}

function skippedBySettings(): CheckResult[] {
  return Object.entries(checkRows)
    .filter(([code, { where }]) => code !== 'settings_fault' && where.some((place) => place === 'L'))
    .flatMap(([code, row]) => toResults(code, row, { skipped: 'The settings are wrong.' }))
}

function contextOf(settings: Settings, world: World) {
  const random = createRandom()
  const keyring = createKeyring(settings.encryptionKeys)
  const migrations = once(() => readMigrations({ settings, world }))
  let opened: Promise<Store> | null = null

  /** Opening migrates, so the store is opened only where nothing is pending. */
  const store = once(async () => {
    const { pending } = await migrations()
    if (pending.length > 0) throw new Error('database: the tables are older than this release')
    opened = openStore({ settings, world, random, keyring }, { onChange() {}, onMail() {}, onAudit() {} })
    return opened
  })
  const context: DoctorContext = {
    settings,
    world,
    asker: null,
    store,
    reach: migrations,
    migrations,
    feedAgeMs: () => null,
    hashFallback: () => null,
    installedVersion: packageVersion,
    random: random.jitter,
  }
  return { context, store, close: async () => (await opened?.catch(() => null))?.close() }
}

function targetOf(
  settings: Settings,
  world: World,
  { home, installationId }: Pick<LocalTarget, 'installationId'> & { home: HomeName },
): LocalExamination['target'] {
  if (home === 'application' && !settings.admin.enabled)
    return { skipped: 'The control API is off: admin.emails is empty.' }
  const { origin, urlPath, basePath, encryptionKeys } = settings
  const keyring = createKeyring(encryptionKeys)
  const request = { method: 'GET', origin, path: `${basePath}${echoPath}` }
  return {
    auth: `${origin}${urlPath}${basePath}`,
    credential: () => ({ [doctorProofHeader]: makeDoctorProof(keyring, request, nowSeconds(world)) }),
    installationId,
  }
}
