import { posix } from 'node:path'
import { type Import, importsOf, resolve, type Source } from './house-source.js'

interface Rooms {
  /** From the lowest level up. A room imports lower levels only, never one of its own level. */
  levels: readonly (readonly string[])[]
  /** Files beside the rooms that may import them; all others stand below the rooms. */
  above: readonly string[] | 'all'
  /** With `above: 'all'`: files below the rooms. */
  below?: readonly string[]
}

/** The rooms of each folder that has some. A room that is missing here has no place yet, and fails. */
export const houseRooms: Readonly<Record<string, Rooms>> = {
  'src/flows': {
    levels: [
      ['steps'],
      ['session'],
      ['account'],
      ['passkeys'],
      ['registration', 'two-factor'],
      ['password'],
      ['otp', 'email', 'oauth', 'control', 'owner'],
    ],
    above: [],
  },
  'src/flows/control': { levels: [['device', 'impersonation']], above: [] },
  'src/routes': {
    levels: [
      ['session'],
      ['passkeys'],
      ['account', 'admin', 'development', 'email', 'oauth', 'otp', 'password', 'registration', 'two-factor'],
    ],
    above: ['index', 'page-routes'],
  },
  // Routes show results of forms by pages; pages read fields as routes do.
  'src/routes/admin': { levels: [['pages']], above: 'all', below: ['caller', 'fields'] },
  'src/tokens': { levels: [['webauthn']], above: [] },
  'src/adapters': { levels: [['node'], ['codehooks', 'hono']], above: ['index', 'message-of'] },
  'src/adapters/node': { levels: [['rewrites']], above: ['connect', 'express', 'node'] },
  'src/cli': {
    levels: [['files', 'init'], ['bundle', 'doctor', 'local', 'remote', 'rows'], ['commands']],
    above: ['context', 'main', 'place', 'program'],
  },
  'src/cli/init': { levels: [['code']], above: 'all' },
  // The ports stand below: the data threads fulfil them, the child is written against them. The front writes the headers that
  // the child reads.
  'src/host': {
    levels: [
      ['documents', 'folder', 'sealing', 'settings', 'store'],
      ['archives'],
      ['releases'],
      ['runner', 'storage', 'people'],
      ['front', 'workers'],
      ['flows'],
      ['children', 'routes', 'sockets'],
      ['doctor'],
      ['spaces', 'tool'],
    ],
    above: [
      'accounts',
      'create-host',
      'first-start',
      'host',
      'host-options',
      'host-pieces',
      'lazy-host',
      'pieces',
      'serve',
    ],
  },
  'src/host/flows': {
    levels: [
      ['people', 'spaces'],
      ['backups', 'collections'],
    ],
    above: [],
  },
  'src/host/routes': {
    levels: [['pages'], ['collections']],
    above: 'all',
    below: ['people-answers', 'progress', 'row-queue'],
  },
  'src/host/store': { levels: [['sql']], above: [] },
  'src/host/store/sql': { levels: [['migrations']], above: 'all', below: ['people-tables'] },
  'src/host/runner': { levels: [['exchange'], ['datastore']], above: ['main', 'start'] },
  'src/host/documents': { levels: [['reading']], above: ['change', 'collections', 'find'] },
  // The front starts the thread by its file.
  'src/host/storage': { levels: [['indexing'], ['postgres'], ['thread']], above: [] },
  // As above: the program reads the tasks.
  'src/host/workers': { levels: [['program']], above: [] },
  'src/http': { levels: [['openapi', 'streams']], above: [] },
  'src/model': { levels: [['doctor', 'factors']], above: 'all' },
  'src/passwords': { levels: [['schemes']], above: ['hashed-passwords', 'stored-hash'] },
  'src/store': { levels: [['audit'], ['accounts'], ['datastore', 'redis', 'sql']], above: [] },
  'src/store/datastore': { levels: [['engine']], above: 'all' },
  'src/wiring': { levels: [['doctor', 'tool']], above: ['open', 'opening', 'for-host', 'for-tool'] },
  'src/store/sql': { levels: [['engine'], ['migrations']], above: 'all' },
}

/** A folder that holds more files than the bound today. It may shrink, and leaves this table when it fits. */
const fullFolders: Readonly<Record<string, number>> = {
  'src/lib': 38,
  'src/model': 33,
}
const maximumFiles = 30

/** A folder holds few enough files to be seen at once; more get rooms. */
export function folderFaults(sources: readonly Source[]): string[] {
  const counts = new Map<string, number>()
  for (const { path } of sources) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts].flatMap(([folder, count]) => {
    const most = fullFolders[folder] ?? maximumFiles
    if (count <= most) return []
    return [`${folder} has ${count} source files. It may have ${most}. Give it rooms, one a noun.`]
  })
}

/** Within a folder that has rooms, an import runs down. */
export function roomFaults(sources: readonly Source[]): string[] {
  const folders = new Set([...Object.keys(houseRooms), ...sources.flatMap(({ path }) => foldersWithRooms(path))])
  return [...folders].flatMap((folder) => {
    const rooms = houseRooms[folder]
    if (!rooms) return [`${folder} has rooms without an order`]
    return sources.flatMap((source) => faultsIn(folder, rooms, sources, source))
  })
}

/** An import cycle of any kind fails: types, lazy imports and all. */
export function cycleFaults(sources: readonly Source[]): string[] {
  const faults: string[] = []
  const finished = new Set<Source>()
  const path: Source[] = []

  function visit(source: Source): void {
    if (finished.has(source)) return
    const start = path.indexOf(source)
    if (start !== -1) {
      faults.push([...path.slice(start), source].map((each) => each.path).join(' → '))
      return
    }
    path.push(source)
    for (const target of targetsOf(sources, source)) visit(target)
    path.pop()
    finished.add(source)
  }

  for (const source of sources) visit(source)
  return faults
}

function targetsOf(sources: readonly Source[], source: Source): Set<Source> {
  return new Set(
    importsOf(source).flatMap((found) => {
      const target = found.specifier.startsWith('.') ? resolve(sources, source, found.specifier) : null
      return target ? [target] : []
    }),
  )
}

/** `src/store` and `src/store/sql` of `src/store/sql/engine/steps.ts`; `src` itself has floors. */
function foldersWithRooms(path: string): string[] {
  const parts = posix.dirname(path).split('/')
  return parts.slice(2).map((_, index) => parts.slice(0, index + 2).join('/'))
}

function faultsIn(folder: string, rooms: Rooms, sources: readonly Source[], source: Source): string[] {
  const from = placeOf(folder, source)
  if (from === null) return []
  const level = levelOf(rooms, from)
  if (level === null) return [`${source.path}: the room ${from.name} has no place in ${folder}`]
  const runsUp = (found: Import): string[] => {
    const target = resolve(sources, source, found.specifier)
    const to = target && placeOf(folder, target)
    if (!target || !to || (to.name === from.name && to.isRoom === from.isRoom)) return []
    const targetLevel = levelOf(rooms, to)
    const goesDown = targetLevel !== null && targetLevel < level
    // Files beside the rooms import each other on their own side.
    const isBeside = !from.isRoom && !to.isRoom && targetLevel === level
    return goesDown || isBeside ? [] : [`${source.path}:${found.line} may not import ${target.path}: it runs upward`]
  }
  return importsOf(source).flatMap(runsUp)
}

interface Place {
  /** Of the room, or of the file beside the rooms. */
  name: string
  isRoom: boolean
}

/** Null: the source is not in this folder. */
function placeOf(folder: string, { path }: Source): Place | null {
  if (!path.startsWith(`${folder}/`)) return null
  const [name = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length > 0 ? { name, isRoom: true } : { name: name.replace(/\.(ts|js)$/, ''), isRoom: false }
}

/** Files below the rooms are on level -1, those above on the highest; null for a room without a place. */
function levelOf({ levels, above, below = [] }: Rooms, { name, isRoom }: Place): number | null {
  if (!isRoom && below.includes(name)) return -1
  if (!isRoom) return above === 'all' || above.includes(name) ? levels.length : -1
  const level = levels.findIndex((names) => names.includes(name))
  return level === -1 ? null : level
}
