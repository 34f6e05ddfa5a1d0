import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Gate } from './adapters/adapter.js'
import { createFetch, createFetchGate, type FetchGate, type FetchOptions } from './adapters/fetch.js'
import { messageOf } from './adapters/message-of.js'
import { admit, refuseUpgrade } from './adapters/node/upgrade.js'
import { type AccessApi, createAccessApi } from './control/access.js'
import { type ApiTokensApi, createApiTokensApi } from './control/api-tokens.js'
import { type AuditApi, createAuditApi } from './control/audit.js'
import { createOperationsApi, type OperationsApi } from './control/operations.js'
import { createPasskeysApi, type PasskeysApi } from './control/passkeys.js'
import { createSessionsApi, type SessionsApi } from './control/sessions.js'
import { createUsersApi, type UsersApi } from './control/users.js'
import { AuthError } from './errors.js'
import { toAuthError } from './http/faults.js'
import type { Ask, Handle, Watch } from './http/verdict.js'
import type { Runtime } from './lib/runtime.js'
import type { Principal } from './model/principal.js'
import { parseRequirement, type RequirementInput } from './settings/requirement.js'
import type { Settings } from './settings.js'
import { createEarly } from './wiring/early.js'
import { rootPathsOf } from './wiring/home.js'
import { createOpening, createWhenOpen, createWithoutStore, type Opening, type WithoutStore } from './wiring/opening.js'
import type { SettingsInput } from './wiring/settings.js'

/** What `init` and `createAuth` return. */
export interface Auth<Guarding = Gate> extends OperationsApi {
  /**
   * Answers the auth routes, guards the rest and passes allowed requests to `next`. Without `next` they get 404.
   * Without `ip` there is no limit per IP.
   *
   * @example Deno.serve((request, info) => auth.fetch(request, { ip: info.remoteAddr.hostname, next: app.fetch }))
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>
  /** Opens and migrates the store, if that has not happened yet. Rejects with the fault. Requests wait for the store. */
  ready(): Promise<void>
  /** Sends mails that are due, stops the workers, closes pools and store. May be called again. */
  close(): Promise<void>
  /**
   * The principal of a request, or null; the origin rules apply. Takes a request of any supported framework, of Node or of
   * the Fetch API, and the context of Hono.
   */
  principal(request: unknown): Promise<Principal | null>
  /**
   * Guards a WebSocket upgrade where Latchkey does not see the server. Node's servers and Fastify need no call.
   * Returns null when the upgrade was refused; the response is on the socket. An open socket closes when the session or
   * token of its principal ends.
   *
   * @example
   * server.on('upgrade', async (request, socket, head) => {
   *   const principal = await auth.upgrade(request, socket)
   *   if (principal) sockets.handleUpgrade(request, socket, head, (opened) => serve(opened, principal))
   * })
   */
  upgrade(request: IncomingMessage, socket: Duplex): Promise<Principal | null>
  /**
   * Middleware of the framework that protects a single route further: every given requirement must hold.
   *
   * @throws {SettingsError} at once, when the requirement is malformed
   * @example app.delete('/api/tenant', auth.require({ roles: ['OWNER'], recent: '10m' }), handler)
   */
  require(requirement: RequirementInput): Guarding
  users: UsersApi
  sessions: SessionsApi
  passkeys: PasskeysApi
  apiTokens: ApiTokensApi
  audit: AuditApi
  access: AccessApi
}

/** The parts that an adapter mounts. */
export interface Assembled<Guarding> {
  /** Begins to open the store. */
  start(): void
  auth: Auth<Guarding>
  handle: Handle
  watch: Watch
  settings: Settings
  /** Paths of our own outside `basePath`. */
  atRoot: readonly string[]
}

/**
 * Latchkey without a framework. The store opens at the first `fetch`, `ready()` or other call: a build that only imports the
 * module opens nothing.
 *
 * @throws {SettingsError} with every fault of the settings at once
 * @example
 * const auth = createAuth({ JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'http://localhost:3000' })
 * const response = await auth.fetch(request, { ip, next: (request, principal) => api(request, principal) })
 */
export function createAuth(settings: SettingsInput, runtime?: Runtime): Auth<FetchGate> {
  return assemble(settings, createFetchGate, runtime).auth
}

/** Builds everything that needs no open store. `check` may refuse the settings first. */
export function assemble<Guarding>(
  input: SettingsInput,
  gate: (ask: Ask) => Guarding,
  runtime?: Runtime,
  check?: (settings: Settings) => void,
): Assembled<Guarding> {
  const early = createEarly(input, runtime)
  check?.(early.settings)
  const opening = createOpening(early)
  const withoutStore = createWithoutStore(early)
  const { handle, watch, ask } = createWhenOpen(opening, withoutStore)
  const auth: Auth<Guarding> = {
    ...createRequestCalls(opening, handle, withoutStore),
    ...createControl(opening),
    ...createOperationsApi(opening, early),
    require: (requirement) => gate(ask(parseRequirement(requirement))),
    async ready() {
      await opening.ready()
    },
    close: () => opening.close(),
  }
  return { auth, start: opening.start, handle, watch, settings: early.settings, atRoot: rootPathsOf(early.settings) }
}

/** The calls that take a request. */
function createRequestCalls(
  opening: Opening,
  handle: Handle,
  { problem }: WithoutStore,
): Pick<Auth, 'fetch' | 'principal' | 'upgrade'> {
  return {
    fetch: createFetch(handle, () => problem(new AuthError('not_found'))),
    async principal(request) {
      const { guard } = await opening.ready()
      return guard.identify(messageOf(request)).catch(nullIfRefused)
    },
    async upgrade(request, socket) {
      // A socket error without a listener would end the process.
      const ignore = () => {}
      socket.on('error', ignore)
      try {
        const { guard, watch } = await opening.ready()
        const admitted = admit(await guard.protect(messageOf(request)), request, socket, watch)
        if (admitted) socket.off('error', ignore)
        return admitted?.principal ?? null
      } catch (error) {
        refuseUpgrade(socket, problem(toAuthError(error)))
        return null
      }
    },
  }
}

/** The calls by which the application administers accounts, sessions, API tokens and access. */
function createControl(
  opening: Opening,
): Pick<Auth, 'users' | 'sessions' | 'passkeys' | 'apiTokens' | 'audit' | 'access'> {
  const ports = async () => (await opening.ready()).ports
  return {
    users: createUsersApi(ports),
    sessions: createSessionsApi(ports),
    passkeys: createPasskeysApi(ports),
    apiTokens: createApiTokensApi(ports),
    audit: createAuditApi(ports),
    access: createAccessApi(ports),
  }
}

/** A refused request has no principal. Other errors mean that this could not be decided. */
function nullIfRefused(error: unknown): null {
  if (error instanceof AuthError && error.status < 500) return null
  throw error
}
