import { type Import, importsOf, packageOf, resolve, type Source } from './house-source.js'

const ground = ['lib', 'contract', 'model', 'errors', 'hooks', 'settings']
const reach = ['store', 'mail', 'oauth', 'tokens', 'passwords', 'limits', 'templates', 'telemetry']

/**
 * Who may import whom, by the first name below `src/`, or by the first two where a room has a rule of its own. `type:x` allows types only, `lazy:x` types and `import()`. A name that is
 * missing here is a floor nobody has thought about, and fails.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(ground.map((name) => [name, ground])),
  // The control API, described once. The tool and the browser get its types.
  contract: ['contract', 'lib'],
  ...Object.fromEntries(reach.map((name) => [name, [name, ...ground]])),
  ports: [...ground, ...reach].map((name) => `type:${name}`),
  // The port files of the reach floor are what a flow is written against; only their types.
  flows: ['flows', 'type:ports', 'type:oauth/provider', 'type:store/sessions', 'type:tokens/access-tokens', ...ground],
  http: ['http', 'type:ports', 'type:mail/mailer', 'type:templates/templates', ...ground],
  adapters: ['adapters', 'http/message', 'http/verdict', ...ground],
  routes: ['routes', 'http', 'flows', 'type:ports', ...ground],
  guard: ['guard', 'routes', 'http', 'flows', 'type:ports', ...reach.map((name) => `type:${name}`), ...ground],
  wiring: ['wiring', 'routes', 'guard', 'http', 'flows', 'ports', ...reach, ...ground],
  control: ['control', 'wiring', 'flows', 'type:ports', ...ground],
  auth: ['control', 'wiring', 'adapters', 'routes', 'guard', 'http', 'flows', 'ports', ...reach, ...ground],
  init: ['auth', 'type:wiring/settings', 'adapters', 'routes', 'guard', 'http', 'flows', 'ports', ...reach, ...ground],
  index: ['init', 'auth', 'type:wiring/settings', 'type:adapters', 'type:guard', 'type:http', 'type:ports', ...ground],
  // Runs in browsers: of the server's code only what the types say.
  client: ['client', 'type:contract', 'type:model', 'type:errors'],
  react: ['type:client', 'type:model', 'type:errors'],
  preview: ['templates', 'errors'],
  // The command-line tool. What is slow to load waits until a command needs it.
  cli: [
    ...['cli', 'errors', 'lib', 'model', 'contract/admin-command', 'type:contract', 'lazy:index'],
    ...[
      'lazy:wiring/for-tool',
      'lazy:wiring/doctor/local',
      'lazy:host/serve',
      'lazy:host/tool/open',
      'type:host/tool/calls',
    ],
  ],
  // The space host. Its front writes Node's messages as the adapter of node does.
  host: [
    'host',
    'http',
    'wiring/for-host',
    'type:wiring/settings',
    ...['answer', 'headers', 'listener', 'peer-address', 'upgrade'].map((name) => `adapters/node/${name}`),
    ...ground,
  ],
  // Nouns in the database of the accounts: their steps write the same audit log and change feed.
  'host/store': [
    'host/store',
    'host/ports',
    'store/sql',
    'store/refused',
    'store/user-rows',
    'store/json-columns',
    'type:store',
    ...ground,
  ],
  // Rights and admin tokens in memory, which the control API asks with each request.
  'host/people': ['host/people', 'type:host/store', 'type:ports', ...ground],
  // The lock of the host's folder is one of SQLite.
  'host/folder': [
    'host',
    ...['retry', 'sqlite-driver', 'sqlite-file'].map((name) => `store/sql/engine/${name}`),
    ...ground,
  ],
  'host/flows': [
    'host',
    ...['steps', 'control', 'owner', 'password', 'registration', 'session'].map((room) => `flows/${room}`),
    'type:ports',
    ...ground,
  ],
  'host/tool': ['host', 'wiring/for-host', 'wiring/for-tool', 'type:ports', ...ground],
  'host/routes': ['host', 'routes', 'http', 'flows/steps', 'flows/control', 'type:ports', ...ground],
  // The child imports nothing else of ours, so its one file stays small.
  'host/documents': ['host/documents', 'host/ports'],
  'host/runner': ['host/runner', 'host/documents', 'host/ports', 'lib/http-blanks'],
  // Its threads open SQLite and PostgreSQL as the package does, so the driver is chosen in one place.
  'host/storage': [
    'host/storage',
    'host/documents',
    'host/ports',
    'host/request-queue',
    ...['postgres', 'retry', 'server-address', 'server-faults', 'sqlite-driver', 'sqlite-file'].map(
      (name) => `store/sql/engine/${name}`,
    ),
    ...ground,
  ],
  // Queries and imports of the control API, each in a process that reads as the child does.
  'host/workers': [
    'host/workers',
    'host/documents',
    'host/ports',
    'host/runner/world',
    'host/runner/datastore/query-options',
    'host/storage/calls',
    'host/storage/messages',
    'type:host/storage/space',
    'http/streams/read-lines',
    ...ground,
  ],
  testing: ['testing', 'init', 'auth', 'type:wiring/settings', 'type:http', 'mail', ...ground],
}

/** Which part of `src/` owns an npm package. `type:` where others may use its types. */
const owners: Readonly<Record<string, readonly string[]>> = {
  kysely: ['store/sql', 'host/store/sql'],
  'better-sqlite3': ['store/sql'],
  'node:sqlite': ['store/sql'],
  pg: ['store/sql'],
  mysql2: ['store/sql'],
  ioredis: ['store/redis'],
  '@opentelemetry/api': ['telemetry/open-telemetry'],
  arctic: ['oauth/arctic'],
  jose: ['tokens'],
  jsonwebtoken: ['tokens'],
  otplib: ['tokens/totp'],
  '@simplewebauthn/server': ['tokens/webauthn/library'],
  uqr: ['tokens/qr-code'],
  bcryptjs: ['passwords'],
  '@node-rs/argon2': ['passwords'],
  piscina: ['passwords'],
  nodemailer: ['mail'],
  handlebars: ['templates'],
  zod: ['settings', 'contract', 'routes', 'host/routes', 'host/settings', 'type:http/route'],
  cookie: ['http/cookies'],
  react: ['react'],
  mingo: ['type:host/documents/mingo', 'host/spaces/programs'],
  commander: ['cli/main', 'cli/program', 'type:cli/command'],
  '@clack/prompts': ['cli/prompts', 'cli/progress'],
  undici: ['host/front/proxy'],
  'tar-stream': ['host/archives', 'cli/bundle'],
  esbuild: ['cli/bundle'],
  'csv-parse': ['cli/rows'],
  'csv-stringify': ['cli/rows'],
  'stream-json': ['cli/rows'],
}

/** Costs tens of milliseconds to load, so it waits until it is needed. */
const heavy = [
  '@clack/prompts',
  'commander',
  'arctic',
  'jose',
  'kysely',
  'better-sqlite3',
  'node:sqlite',
  'pg',
  'mysql2',
  'ioredis',
  '@opentelemetry/api',
  'bcryptjs',
  '@node-rs/argon2',
  'piscina',
  'nodemailer',
  'handlebars',
  'otplib',
  '@simplewebauthn/server',
  'uqr',
  'mingo',
  'undici',
  'tar-stream',
  'esbuild',
  'csv-parse',
  'csv-stringify',
  'stream-json',
]

/** Floors: an import goes down or stays in its folder, as the table says. */
export function floorFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((found) => found.specifier.startsWith('.'))
      .flatMap((found) => {
        const target = resolve(sources, source, found.specifier)
        if (!target) return [`${source.path}:${found.line} imports ${found.specifier}, which does not exist`]
        const allowed = mayImport[source.path.split('/').slice(1, 3).join('/')] ?? mayImport[areaOf(source)]
        if (!allowed) return [`${source.path} stands on no floor of the house`]
        if (allowed.some((rule) => covers(rule, target, found))) return []
        return [`${source.path}:${found.line} may not import ${target.path}`]
      }),
  )
}

/** One owner a package; flows have none at all, not even node's own modules (clock and randomness come through ports). */
export function ownerFaults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((found) => !found.specifier.startsWith('.'))
      .flatMap((found) => {
        const name = packageOf(found.specifier)
        const place = `${source.path}:${found.line}`
        if (areaOf(source) === 'flows') return [`${place} imports ${name}; flows import no package`]
        const owned = owners[name]
        if (!owned) return name.startsWith('node:') ? [] : [`${place} imports ${name}, which has no owner`]
        return owned.some((rule) => covers(rule, source, found))
          ? []
          : [`${place} imports ${name}, which belongs to ${owned.join(', ')}`]
      }),
  )
}

/**
 * Importing the package loads nothing heavy: no static import of it is reachable from a public door. `needed` is what the door
 * cannot do without.
 */
export function weightFaults(
  sources: readonly Source[],
  door = 'src/index.ts',
  needed: readonly string[] = [],
): string[] {
  const isHeavy = (specifier: string) => heavy.includes(packageOf(specifier)) && !needed.includes(specifier)
  const start = sources.find((source) => source.path === door)
  const reached = new Set<Source>(start ? [start] : [])
  // A set may grow while it is walked.
  for (const source of reached) {
    for (const found of importsOf(source)) {
      const target = found.typeOnly || found.lazy ? null : resolve(sources, source, found.specifier)
      if (target) reached.add(target)
    }
  }
  return [...reached].flatMap((source) =>
    importsOf(source)
      .filter((found) => !found.typeOnly && !found.lazy && isHeavy(found.specifier))
      .map((found) => `${source.path}:${found.line} loads ${found.specifier} as soon as ${door} is imported`),
  )
}

/** `flows` of `src/flows/password/login.ts`, `errors` of `src/errors.ts`. */
function areaOf(source: Source): string {
  return (
    source.path
      .replace(/^src\//, '')
      .split('/')[0]
      ?.replace(/\.(ts|js)$/, '') ?? ''
  )
}

function covers(rule: string, target: Source, found: Pick<Import, 'typeOnly' | 'lazy'>): boolean {
  if (rule.startsWith('type:')) return found.typeOnly && covers(rule.slice(5), target, found)
  if (rule.startsWith('lazy:')) return (found.typeOnly || found.lazy) && covers(rule.slice(5), target, found)
  const path = target.path.replace(/^src\//, '').replace(/\.(ts|js)$/, '')
  return path === rule || path.startsWith(`${rule}/`)
}
