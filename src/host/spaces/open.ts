import { join } from 'node:path'
import type { World } from '../../lib/runtime.js'
import { defaultReleaseLimits, releasePaths } from '../../model/release.js'
import type { SpaceName } from '../../model/visitor.js'
import type { Logger } from '../../settings.js'
import { defaultLogLimits } from '../children/logs.js'
import type { ChildPlan } from '../children/plan.js'
import { createSupervisor, type Supervisor } from '../children/supervisor.js'
import type { BackupPorts } from '../flows/backups/ports.js'
import type { CollectionPorts } from '../flows/collections/ports.js'
import { nameOfActor } from '../flows/spaces/actor-entry.js'
import { fillDirectory, findSpace, readSpaces } from '../flows/spaces/find-space.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { sweepRemovedSpaces } from '../flows/spaces/spaces.js'
import { readStartFacts, recordCrash } from '../flows/spaces/start-facts.js'
import { createUploads } from '../flows/spaces/uploads.js'
import { createSpaceDirectory } from '../front/directory.js'
import type { SpaceLimits } from '../front/space.js'
import type { Children, PrintedLine } from '../ports.js'
import { createSpaceFiles } from '../releases/space-files.js'
import { createSealer } from '../sealing/space-keys.js'
import { defaultVariableLimits } from '../sealing/variables.js'
import type { HostSettings } from '../settings/host-settings.js'
import type { Schemas } from '../storage/postgres/schemas.js'
import type { PeopleNouns } from '../store/people.js'
import type { SpaceNouns, SpaceRecord } from '../store/spaces.js'
import { collectionPorts, openWorkers } from './collection-ports.js'
import { openSpacesData, type SpacesData } from './generations.js'
import type { OpenSpaces, SpacesGround } from './ground.js'
import {
  createSpaceGuards,
  openIsolation,
  openOwnSchemas,
  rememberedTokens,
  type SpaceGuards,
  withSchemas,
} from './ground.js'
import { type ChildPrograms, ownPrograms } from './programs.js'
import { removeTemporaryFiles, settleGenerations, sweepEachHour } from './settle-generations.js'

/** Spaces that are open, and what their flows reach. */
export interface RunningSpaces extends OpenSpaces {
  ports: BackupPorts
  collections: CollectionPorts
}

/** Those of spaces, and the admin tokens, which have names. */
type StoredNouns = SpaceNouns & Pick<PeopleNouns, 'projectTokens'>

/** What the parts of this module share. */
interface Ground extends SpacesGround<StoredNouns> {
  guards: SpaceGuards
  data: SpacesData
  /** null: the data of spaces is in files. */
  schemas: Schemas | null
}

/**
 * Opens the data of all spaces, ends what an earlier host left, and starts what is deployed.
 *
 * @param programs null: those of this package
 * @throws {SettingsError} for a path that is too long for sockets, and for a package that is missing
 */
export async function openSpaces(
  given: SpacesGround<StoredNouns>,
  programs: ChildPrograms | null = null,
): Promise<RunningSpaces> {
  const { running, settings, folder, world, random, logger } = given
  const own = programs ?? ownPrograms()
  const { runner, mingo, thread } = own
  const schemas = await openOwnSchemas(settings)
  const ground: Ground = {
    ...given,
    schemas,
    guards: createSpaceGuards(running, settings),
    data: openSpacesData({ ...given, schemas, limits: settings.limits, ...(thread && { program: thread }) }),
  }
  const planOf = (spaceId: string, release?: number) => readPlan(ports, ground, { spaceId, release })
  const supervisor = await createSupervisor({
    planOf: (spaceId) => planOf(spaceId),
    onCrashed: (spaceId, lines) => void reportCrash(ground, spaceId, lines),
    runFolder: folder.run,
    isolate: (premises) => openIsolation(given, premises),
    ...{ runner, mingo, world, random },
    logLimits: { ...defaultLogLimits, bytes: settings.limits.logBytes },
  }).catch(async (error: unknown) => {
    await closeData(ground)
    throw error
  })
  const timers = createTimers(world.timer)
  const timed = { ...ground, world: { ...world, timer: timers.timer } }
  const ports = portsOf(timed, childrenOf(supervisor, ground, planOf), (spaceId) => supervisor.child(spaceId))
  const workers = openWorkers(given, own)
  const stopSweeps = sweepEachHour(ports, { timer: world.timer, logger })
  const close = async () => {
    stopSweeps()
    timers.end()
    await workers.close()
    await supervisor.close()
    await ground.guards.close()
    await closeData(ground)
  }
  try {
    for (const spaceId of await sweepRemovedSpaces(ports)) reportLeft(logger, spaceId)
    const spaces = await fillDirectory(ports)
    await settleGenerations(ports, { folder, spaces, logger })
    if (supervisor.isolation.mode === 'sandbox') await removeTemporaryFiles(ports, { spaces, logger })
    startDeployed(supervisor, ground, spaces)
  } catch (error) {
    await close()
    throw error
  }
  return {
    ports,
    collections: collectionPorts(given, ports, { data: ground.data, workers }),
    directory: ports.directory,
    ...examinedIn(ports),
    isolation: supervisor.isolation,
    find: async (name) => accessOf(ground, { id: (await findSpace(ports, name)).id, name }),
    close,
  }
}

/** An application that served before had data. When that is missing, it does not start, so that it does not go on with an empty store. */
function startDeployed(
  supervisor: Pick<Supervisor, 'startAll'>,
  { data }: Pick<Ground, 'data'>,
  spaces: readonly SpaceRecord[],
): void {
  const deployed = spaces.filter(({ release }) => release !== null).map(({ id }) => id)
  for (const id of deployed) data.expectData(id)
  supervisor.startAll(deployed)
}

/** The timer until `end` is called. What waits then is not called back. */
function createTimers(timer: World['timer']): { timer: World['timer']; end(): void } {
  let hasEnded = false
  return {
    timer: (milliseconds, callback) => timer(milliseconds, () => void (hasEnded || callback())),
    end() {
      hasEnded = true
    },
  }
}

/** A failed record must not end the host: the log of the space still has the lines. */
async function reportCrash({ running, logger }: Ground, spaceId: string, lines: readonly PrintedLine[]): Promise<void> {
  const { ports, nouns } = running
  const crashed = recordCrash({ ...ports, spaces: nouns.spaces }, spaceId, lines)
  await crashed.catch((error: unknown) => logUnrecorded(logger, spaceId, error))
}

async function closeData({ data, schemas }: Ground): Promise<void> {
  await data.close()
  await schemas?.close()
}

/** What `doctor` asks of the spaces. */
function examinedIn({
  spaces,
  children,
  files,
  backups,
}: BackupPorts): Pick<OpenSpaces, 'crashed' | 'deployed' | 'backups'> {
  return {
    async crashed() {
      const all = await readSpaces({ spaces })
      return all.filter(({ id }) => children.status(id).state === 'crashed').map(({ name }) => name)
    },
    async backups() {
      const all = await readSpaces({ spaces })
      return Promise.all(
        all.map(async ({ id, name, createdAt }) => {
          const [last] = await backups.list(id)
          return { space: name, since: last?.at ?? createdAt, hasBackup: last !== undefined }
        }),
      )
    },
    async deployed() {
      const all = await readSpaces({ spaces })
      return all.flatMap(({ id, name, release }) => {
        if (release === null) return []
        return [{ space: name, bundle: join(files.release(id, release), releasePaths.code) }]
      })
    },
  }
}

function logUnrecorded(logger: Logger, spaceId: string, error: unknown): void {
  const reason = error instanceof Error ? error.name : 'unknown'
  logger.error(
    { event: 'crash_unrecorded', spaceId, reason },
    'A space crashes too often, which could not be recorded.',
  )
}

function reportLeft(logger: Logger, spaceId: string): void {
  const message = 'The data of a removed space could not be removed. The next start tries again.'
  logger.error({ event: 'removed_space_left', spaceId }, message)
}

type PlanOf = (spaceId: string, release?: number) => Promise<ChildPlan>

async function readPlan(
  ports: SpacePorts,
  { settings, data }: Ground,
  { spaceId, release }: { spaceId: string; release: number | undefined },
): Promise<ChildPlan> {
  const { generation, ...facts } = await readStartFacts(ports, spaceId, release)
  const { bodyBytes, requestMs, startMs, memoryBytes, temporaryBytes, headersBytes, targetBytes } = settings.limits
  const { errors = 'problem', cors = 'own', dotPaths = 'nested' } = settings.compat
  const { network } = settings.limits
  return {
    ...facts,
    hasNetwork: typeof network === 'boolean' ? network : network.includes(facts.name),
    // The front adds headers of its own to those of the client.
    limits: {
      ...{ bodyBytes, requestMs, startMs, memoryBytes, temporaryBytes },
      headerBytes: headersBytes + targetBytes + addedHeaderBytes,
    },
    compat: { errors, cors, dotPaths },
    openData: (socketPath, key) => data.serve({ spaceId, generation, socketPath, key }),
  }
}

/** Among them the principal, which may hold the claims of a JWT. */
const addedHeaderBytes = 64 * 1024

function childrenOf(supervisor: Supervisor, { guards, data }: Ground, planOf: PlanOf): Children {
  return {
    async start(spaceId, release) {
      const own = release === undefined ? undefined : (id: string) => planOf(id, release)
      const { notRun } = await supervisor.start(spaceId, own)
      return { warnings: notRun.map((name) => `The ${name} never runs: this host does not support it.`) }
    },
    stop: (spaceId) => supervisor.stop(spaceId),
    async remove(spaceId) {
      await supervisor.remove(spaceId)
      await guards.remove(spaceId)
      await data.remove(spaceId)
    },
    status: (spaceId) => supervisor.status(spaceId),
    logs: (spaceId) => supervisor.logs(spaceId),
  }
}

/** Tokens, key set and allow-list of a space. */
function accessOf({ guards, running }: Ground, space: SpaceName): ReturnType<SpaceGuards['of']>['ports'] {
  const { ports } = guards.of(space)
  return { ...ports, apiTokens: rememberedTokens(ports.apiTokens, running.nouns.removedTokens, space.id) }
}

function portsOf(
  ground: Ground,
  children: Children,
  child: Supervisor['child'],
): BackupPorts & { directory: ReturnType<typeof createSpaceDirectory> } {
  const { running, settings, folder, masterKeys, disk, world, guards, data, schemas } = ground
  const { ports, nouns } = running
  const { limits, baseUrl } = settings
  return {
    ...nouns,
    data,
    audit: ports.audit,
    signer: masterKeys,
    dataLimits: limits,
    keyring: ports.keyring,
    accessOf: (space) => accessOf(ground, space),
    clock: ports.clock,
    random: ports.random,
    children,
    files: withSchemas(createSpaceFiles(folder.path, disk), schemas),
    sealer: createSealer(() => masterKeys),
    directory: createSpaceDirectory((space) => ({
      ...space,
      guard: guards.of(space).guard,
      limits: frontLimits(settings),
      child: () => child(space.id),
    })),
    timer: world.timer,
    monotonic: world.monotonic,
    uploads: createUploads({ ...world, id: ports.random.id, isFull: () => !disk.mayWrite() }),
    nameOf: (actor) => nameOfActor({ users: ports.users, tokens: nouns.projectTokens }, actor),
    baseUrl,
    limits: {
      release: { ...defaultReleaseLimits, code: limits.codeBytes, assets: limits.assetsBytes },
      releases: limits.releases,
      environment: { ...defaultVariableLimits, names: limits.variables },
    },
  }
}

function frontLimits({ limits }: Pick<HostSettings, 'limits'>): SpaceLimits {
  const { requestMs, streamBytes, headersBytes, connections } = limits
  return { requestMs, streamBytes, headersBytes, connections }
}
