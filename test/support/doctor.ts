import { onTestFinished } from 'vitest'
import { examine } from '../../src/flows/control/run-doctor.js'
import type { LatchkeySettings } from '../../src/index.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { packageVersion } from '../../src/lib/optional-package.js'
import { createRandom } from '../../src/lib/random.js'
import { createWorld, type World } from '../../src/lib/runtime.js'
import type { CheckPlace, CheckResult } from '../../src/model/doctor/report.js'
import type { Store } from '../../src/store/store.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import type { DoctorContext } from '../../src/wiring/doctor/context.js'
import { topicsOf } from '../../src/wiring/doctor/topics.js'
import { openStore } from '../../src/wiring/open-store.js'
import { readSettings } from '../../src/wiring/settings.js'
import { startRangeServer } from './range-server.js'

const silent = { warn: () => {}, error: () => {} }

export interface Patient {
  settings?: Partial<LatchkeySettings>
  world?: Partial<World>
  place?: Exclude<CheckPlace, 'N'>
  /** What replaces parts of the context. */
  context?: Partial<DoctorContext>
}

/** The context of a deployment with a real store: SQLite in memory unless the settings name another. */
export async function doctorContext({
  settings: given,
  world: changed,
  context,
}: Patient = {}): Promise<DoctorContext> {
  const range = await startRangeServer()
  onTestFinished(() => range.close())
  const runtime = createTestRuntime({ fetch: globalThis.fetch })
  const world = { ...createWorld(runtime), ...changed }
  const password = { checkBreached: range.url, ...given?.password }
  const settings = readSettings({ ...testSettings({ logger: silent, mail: undefined }), ...given, password }, world)
  const random = createRandom()
  let opened: Promise<Store> | null = null
  const keyring = createKeyring(settings.encryptionKeys)
  const events = { onChange() {}, onMail() {}, onAudit() {} }
  const store = () => {
    opened ??= openStore({ settings, world, random, keyring }, events)
    return opened
  }
  onTestFinished(async () => (await opened?.catch(() => null))?.close())
  return {
    settings,
    world,
    asker: null,
    store,
    reach: async () => (await store()).changes.recent(0),
    migrations: async () => (await store()).migrations(),
    feedAgeMs: () => 0,
    hashFallback: () => null,
    installedVersion: packageVersion,
    random: random.jitter,
    ...context,
  }
}

/** Every row of the report. */
export async function examined(patient: Patient = {}): Promise<readonly CheckResult[]> {
  const context = await doctorContext(patient)
  const { timer, monotonic } = context.world
  const clock = { now: () => 0, monotonicMs: monotonic }
  return (await examine(topicsOf(context, patient.place ?? 'L'), { timer, clock })).checks
}

/** The rows of one check. */
export async function diagnosed(code: string, patient: Patient = {}): Promise<readonly CheckResult[]> {
  return (await examined(patient)).filter((result) => result.code === code)
}

export const findingsOf = (results: readonly CheckResult[]) => results.filter(({ ok }) => !ok)
