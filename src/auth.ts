import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Gate } from './adapters/adapter.js'
import { createFetch, type FetchOptions } from './adapters/fetch.js'
import { createFetchGate, type FetchGate } from './adapters/fetch-gate.js'
import { messageOf } from './adapters/message-of.js'
import { admit, refuseUpgrade } from './adapters/node/upgrade.js'
import { type AccessApi, createAccessApi } from './control/access.js'
import { type ApiTokensApi, createApiTokensApi } from './control/api-tokens.js'
import { type AuditApi, createAuditApi } from './control/audit.js'
import { createOperationsApi, type OperationsApi } from './control/operations.js'
import { createSessionsApi, type SessionsApi } from './control/sessions.js'
import { createUsersApi, type UsersApi } from './control/users.js'
import { AuthError } from './errors.js'
import { toAuthError } from './http/faults.js'
import type { HttpRequest, HttpResponse } from './http/message.js'
import { problem, transportHeaders } from './http/problem.js'
import type { Answer, Ask, Handle, Verdict, Watch } from './http/verdict.js'
import { createKeyring } from './lib/keyring.js'
import { createRandom } from './lib/random.js'
import { createRequestIds } from './lib/request-id.js'
import { createWorld, type Runtime, sleep } from './lib/runtime.js'
import type { Principal } from './model/principal.js'
import { createPasswords } from './passwords/hashed-passwords.js'
import { parseRequirement, type Requirement, type RequirementInput } from './settings/requirement.js'
import { parseSettings, type Settings, type SettingsInput } from './settings.js'
import { createTemplates } from './templates/handlebars.js'
import { createDelivery } from './wiring/delivery.js'
import type { Early } from './wiring/early.js'
import { warnLeftOut } from './wiring/not-yet.js'
import { createOpening, type Opening } from './wiring/opening.js'
import { requirePackages } from './wiring/packages.js'
import { createWithoutStore, type WithoutStore } from './wiring/without-store.js'

/** Latchkey, running: what `init` and `createAuth` return. */
export interface Auth<Guarding = Gate> extends OperationsApi {
  /**
   * Answers the auth routes, guards the rest and hands what may pass to `next`; without `next` that is 404.
   * Without `ip` there is no limit per IP.
   *
   * @example Deno.serve((request, info) => auth.fetch(request, { ip: info.remoteAddr.hostname, next: app.fetch }))
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>
  /** Resolves once the store is open and migrated; requests wait for it by themselves. Rejects with what is wrong. */
  ready(): Promise<void>
  /** Sends what is due, stops the workers, closes pools and store. May be called again. */
  close(): Promise<void>
  /** Who is behind a request (of any supported framework, node or the Fetch API; of Hono its context), origin rules included; null for nobody. */
  principal(request: unknown): Promise<Principal | null>
  /**
   * Who may open a WebSocket, for applications whose server Latchkey does not see (of node's servers and Fastify it does).
   * null: it was refused, and answered on the socket. One that may is closed when its principal may be here no more.
   *
   * @example
   * server.on('upgrade', async (request, socket, head) => {
   *   const principal = await auth.upgrade(request, socket)
   *   if (principal) sockets.handleUpgrade(request, socket, head, (opened) => serve(opened, principal))
   * })
   */
  upgrade(request: IncomingMessage, socket: Duplex): Promise<Principal | null>
  /**
   * Guards a single route on top of the guard, as middleware of the framework: everything that is given must hold.
   *
   * @throws {SettingsError} at once, when the requirement is none
   * @example app.delete('/api/tenant', auth.require({ roles: ['OWNER'], recent: '10m' }), handler)
   */
  require(requirement: RequirementInput): Guarding
  users: UsersApi
  sessions: SessionsApi
  apiTokens: ApiTokensApi
  audit: AuditApi
  access: AccessApi
}

/** What an adapter mounts. */
export interface Assembled<Guarding> {
  auth: Auth<Guarding>
  handle: Handle
  watch: Watch
  settings: Settings
}

/**
 * Latchkey without a framework.
 *
 * @throws {SettingsError} with every fault of the settings at once
 * @example
 * const auth = createAuth({ JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'http://localhost:3000' })
 * const response = await auth.fetch(request, { ip, next: (request, principal) => api(request, principal) })
 */
export function createAuth(settings: SettingsInput, runtime?: Runtime): Auth<FetchGate> {
  return assemble(settings, createFetchGate, runtime).auth
}

/** Parses the settings, begins to open the store, and builds the front door that waits for it. `check` may refuse them first. */
export function assemble<Guarding>(
  input: SettingsInput,
  gate: (ask: Ask) => Guarding,
  runtime?: Runtime,
  check?: (settings: Settings) => void,
): Assembled<Guarding> {
  const early = prepare(input, runtime)
  check?.(early.settings)
  const opening = createOpening(early)
  // In a moment: `auth.migrations()` may be asked first, and then nothing is opened by itself.
  queueMicrotask(opening.start)

  const withoutStore = createWithoutStore(early)
  const refuse = createRefusals(early.settings)
  const handle: Handle = (request) => {
    const live = opening.live()
    if (live) return live.handle(request)
    return withoutStore.judge(request) ?? handleLate(opening, request, withoutStore)
  }
  const require = (input: RequirementInput) => gate(createAsk(opening, parseRequirement(input), refuse))
  const watch: Watch = (principal, close) => {
    const live = opening.live()
    if (live) return live.watch(principal, close)
    close()
    return () => {}
  }
  return {
    auth: { ...createSurface(opening, handle, refuse), ...createOperationsApi(opening, early), require },
    handle,
    watch,
    settings: early.settings,
  }
}

function prepare(input: SettingsInput, runtime: Runtime | undefined): Early {
  const world = createWorld(runtime)
  const settings = parseSettings(input, world)
  warnLeftOut(settings)
  requirePackages(settings)
  const random = createRandom()
  const templates = createTemplates(settings, (names) => {
    const fields = { event: 'labels_missing', locale: settings.locale, count: names.length, names }
    settings.logger.warn(fields, 'Some texts of this language are missing and show in English.')
  })
  return {
    settings,
    world,
    random,
    templates,
    keyring: createKeyring(settings.encryptionKeys),
    passwords: createPasswords({
      ...settings.password,
      // The clock that flows start the floor by: under a test clock the two must not differ.
      monotonic: world.monotonic,
      sleep,
      onFallback: (reason) =>
        settings.logger.warn({ event: 'hash_fallback', reason }, 'Passwords are hashed on the event loop.'),
      onUnreadable: (reason) =>
        settings.logger.error({ event: 'hash_unreadable', reason }, 'Stored argon2id hashes need @node-rs/argon2.'),
    }),
    ...createDelivery(settings, { random, world, templates }),
  }
}

type Refuse = (fault: AuthError) => HttpResponse

/** Answers from outside the front door, with the headers that all of ours have. */
function createRefusals(settings: Settings): Refuse {
  const requestId = createRequestIds()
  return (fault) => problem(fault, requestId(), transportHeaders(settings))
}

async function handleLate(opening: Opening, request: HttpRequest, { refuse }: WithoutStore): Promise<Verdict> {
  try {
    const live = await opening.ready()
    return await live.handle(request)
  } catch {
    return refuse(request)
  }
}

function unavailable(refuse: Refuse): Answer {
  return { kind: 'answer', response: refuse(new AuthError('store_unavailable', { retryAfterSeconds: 1 })) }
}

function createAsk(opening: Opening, requirement: Requirement, refuse: Refuse): Ask {
  return (request, found) => {
    const live = opening.live()
    if (live) return live.guard.require(request, requirement, found)
    const late = async () => (await opening.ready()).guard.require(request, requirement, found)
    return late().catch(() => unavailable(refuse))
  }
}

function createSurface(opening: Opening, handle: Handle, refuse: Refuse): Omit<Auth, 'require' | keyof OperationsApi> {
  const ports = async () => (await opening.ready()).ports
  return {
    fetch: createFetch(handle, () => refuse(new AuthError('not_found'))),
    async ready() {
      await opening.ready()
    },
    close: () => opening.close(),
    async principal(request) {
      const { guard } = await opening.ready()
      return guard.identify(messageOf(request)).catch(toNull)
    },
    async upgrade(request, socket) {
      // Until somebody has taken it, a socket that breaks would break the process.
      const ignore = () => {}
      socket.on('error', ignore)
      try {
        const { guard, watch } = await opening.ready()
        const admitted = admit(await guard.protect(messageOf(request)), request, socket, watch)
        if (admitted) socket.off('error', ignore)
        return admitted?.principal ?? null
      } catch (error) {
        refuseUpgrade(socket, refuse(toAuthError(error)))
        return null
      }
    },
    users: createUsersApi(ports),
    sessions: createSessionsApi(ports),
    apiTokens: createApiTokensApi(ports),
    audit: createAuditApi(ports),
    access: createAccessApi(ports, async () => (await opening.ready()).accessFeed.catchUp()),
  }
}

/** A refusal means nobody; that it cannot be decided is the caller's to know. */
function toNull(error: unknown): null {
  if (error instanceof AuthError && error.status < 500) return null
  throw error
}
