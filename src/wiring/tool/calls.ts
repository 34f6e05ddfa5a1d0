import { allowNetwork, disallowNetwork, readAccess } from '../../flows/control/access-settings.js'
import { disableAccount, enableAccount } from '../../flows/control/administer-accounts.js'
import { createApiToken, listApiTokens, removeApiToken, rotateApiToken } from '../../flows/control/api-tokens.js'
import { demandReset } from '../../flows/control/demand-reset.js'
import { findAccount, findAccountByEmail, listAccounts } from '../../flows/control/find-accounts.js'
import { importAccounts } from '../../flows/control/import-accounts.js'
import { addAccount, type InvitedAccount } from '../../flows/control/invite-account.js'
import { changeJwksUrl, requireKeySetUrl } from '../../flows/control/key-set.js'
import { readWholeAccount } from '../../flows/control/read-account.js'
import { exportAudit, listAudit } from '../../flows/control/read-audit.js'
import { removeConfirmedAccount } from '../../flows/control/remove-account.js'
import { noteAuditRead, verifyAudit } from '../../flows/control/watch-audit.js'
import { createAdmin } from '../../flows/owner/create-admin.js'
import { exportAccounts } from '../../flows/owner/export-accounts.js'
import { endUserSessions } from '../../flows/session/sessions.js'
import { removeFactor } from '../../flows/two-factor/turn-off.js'
import { sleep } from '../../lib/runtime.js'
import { createSharedClock } from '../../lib/shared-clock.js'
import { createLimiter } from '../../limits/counters.js'
import { createMails } from '../../mail/outbox.js'
import type { AccountFilter } from '../../model/account.js'
import type { ApiTokenFilter, ApiTokenRotation, NewApiToken } from '../../model/api-token.js'
import type { AuditEntry, AuditFilter } from '../../model/audit-event.js'
import type { HomeName } from '../../model/home.js'
import { type Visitor, visitorWithoutRequest } from '../../model/visitor.js'
import { createPasswords } from '../../passwords/hashed-passwords.js'
import type { Ports } from '../../ports.js'
import type { Store } from '../../store/store.js'
import { createWebauthn } from '../../tokens/webauthn/ceremonies.js'
import { keySetRulesOf, keySetsOf } from '../access.js'
import { createPasswordRules, policyOf } from '../policy.js'
import type { ToolParts, ToolWake } from './store.js'

/** What the tool asks of an opened application. Every change has the tool as its actor. */
export type ToolCalls = ReturnType<typeof bindToolCalls>

export function bindToolCalls(ports: ToolPorts, osUser: string) {
  const visitor = visitorWithoutRequest({ kind: 'tool', osUser })
  return {
    ...tokenCalls(ports, visitor),
    ...accessCalls(ports, visitor),
    ...accountCalls(ports, visitor),
    ...ownerCalls(ports, visitor),
    ...auditCalls(ports, visitor),
  }
}

function tokenCalls(ports: ToolPorts, visitor: Visitor) {
  return {
    createApiToken: (token: NewApiToken) => createApiToken(ports, { token, visitor }),
    listApiTokens: (page: ApiTokenFilter) => listApiTokens(ports, page),
    removeApiToken: (id: string) => removeApiToken(ports, { id, visitor }),
    rotateApiToken: (id: string, options: ApiTokenRotation) => rotateApiToken(ports, { id, options, visitor }),
  }
}

/** The tool has no address of its own, so no list can lock it out. */
function accessCalls(ports: ToolPorts, visitor: Visitor) {
  return {
    readAccess: () => readAccess(ports),
    async checkKeySet(url: string) {
      requireKeySetUrl(ports, url)
      return ports.keySets.check(url)
    },
    async setKeySet(url: string | null) {
      await changeJwksUrl(ports, { url, visitor })
      return readAccess(ports)
    },
    async allowNetwork(network: string) {
      await allowNetwork(ports, { network, visitor })
      return readAccess(ports)
    },
    disallowNetwork: (network: string) => disallowNetwork(ports, { network, visitor }),
  }
}

function accountCalls(ports: ToolPorts, visitor: Visitor) {
  return {
    listUsers: (filter: AccountFilter) => listAccounts(ports, filter),
    findUser: (text: string) => (text.includes('@') ? findAccountByEmail(ports, text) : findAccount(ports, text)),
    readUser: (id: string) => readWholeAccount(ports, id),
    createUser: ({ invite, ...account }: InvitedAccount & { invite: boolean }) =>
      addAccount(ports, { invite, account, visitor }),
    disableUser: (id: string, options: { reason: string; until?: string }) =>
      disableAccount(ports, { id, options, visitor }),
    enableUser: (id: string) => enableAccount(ports, { id, visitor }),
    deleteUser: (id: string, confirm: string) => removeConfirmedAccount(ports, { id, confirm, visitor }),
    resetPassword: (id: string) => demandReset(ports, { id, visitor }),
    endUserSessions: (id: string) => endUserSessions(ports, { id, visitor }),
    removeTwoFactor: (id: string) => removeFactor(ports, { id, visitor }),
  }
}

/** What only the owner of the application may do. */
function ownerCalls(ports: ToolPorts, visitor: Visitor) {
  return {
    async createAdmin(email: string, password: string | null) {
      if (password !== null) await noteHashKind(ports)
      return createAdmin(ports, { email, password, visitor })
    },
    importUsers: (records: AsyncIterable<unknown>) => importAccounts(ports, { records, visitor }),
    exportUsers: () => exportAccounts(ports, { visitor }),
  }
}

/** A failed sign-in must not be answered sooner than one by the slowest stored hash, so a slower kind is noted first. */
async function noteHashKind({ hashKinds, passwords }: ToolPorts): Promise<void> {
  const slowest = await hashKinds.slowest()
  if (passwords.kind.milliseconds > (slowest?.milliseconds ?? 0)) await hashKinds.note(passwords.kind)
}

function auditCalls(ports: ToolPorts, visitor: Visitor) {
  return {
    async listAudit(filter: AuditFilter) {
      const page = await listAudit(ports, filter)
      await noteAuditRead(ports, visitor)
      return page
    },
    async *exportAudit(filter: AuditFilter): AsyncGenerator<AuditEntry> {
      await noteAuditRead(ports, visitor)
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof exportAudit>> = await exportAudit(ports, {
          ...filter,
          ...(cursor !== null && { cursor }),
        })
        yield* page.items
        cursor = page.nextCursor
      } while (cursor !== null)
    },
    verifyAudit: () => verifyAudit(ports, { visitor }),
  }
}

/** What the flows of the tool reach. Sessions, tokens and providers of requests are missing: the tool signs in for no user. */
export type ToolPorts = Pick<
  Ports,
  | 'users'
  | 'passkeys'
  | 'sessions'
  | 'apiTokens'
  | 'audit'
  | 'accessSettings'
  | 'hashKinds'
  | 'passwords'
  | 'passwordFaults'
  | 'keyring'
  | 'webauthn'
  | 'mails'
  | 'limiter'
  | 'keySets'
  | 'clock'
  | 'random'
  | 'policy'
  | 'home'
>

export async function createToolPorts(
  parts: ToolParts,
  { store, wake, home }: { store: Store; wake: ToolWake; home: HomeName },
): Promise<ToolPorts> {
  const { settings, world, keyring, random } = parts
  const clock = createSharedClock(world)
  clock.learn((await store.changes.recent(0)).storeNowMs)
  const policy = policyOf(settings)
  const { password, limits } = settings
  const { users, passkeys, sessions, apiTokens, audit, accessSettings, hashKinds } = store
  return {
    users,
    passkeys,
    sessions,
    apiTokens,
    audit,
    accessSettings,
    hashKinds,
    passwords: createPasswords({
      ...{ ...password, monotonic: world.monotonic, sleep },
      ...{ threads: 0, maxQueue: Number.POSITIVE_INFINITY },
    }),
    passwordFaults: createPasswordRules({ settings, world, audit, clock, random }),
    keyring,
    webauthn: createWebauthn(),
    // Mail waits in the outbox for the application, which logs what its limits refuse.
    mails: { ...createMails({ keyring, randomId: random.id, now: clock.now }), showRefused() {} },
    limiter: createLimiter({ counters: wake.counters, limits, now: clock.now }),
    keySets: keySetsOf({ world, policy: policy.access, rules: keySetRulesOf(settings) }, { keySet: () => null }),
    clock,
    random,
    policy,
    home,
  }
}
