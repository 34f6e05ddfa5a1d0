import type { ApiTokenEntry, CreatedApiToken } from '../contract/api-tokens.js'
import { createApiToken, listApiTokens, removeApiToken, rotateApiToken } from '../flows/control/api-tokens.js'
import type { Page } from '../model/account.js'
import type { ApiTokenFilter, ApiTokenRotation, NewApiToken } from '../model/api-token.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'
import { missing } from './missing.js'

/**
 * Tokens for other programs, for the application's own code: no route creates, lists or ends one. Ending a token takes effect
 * in this process at once and in every other within a second. Everything is audited.
 */
export interface ApiTokensApi {
  /**
   * Creates a token. Only this result holds its text; the store keeps a keyed digest.
   *
   * @throws {AuthError} `invalid_request`, also for a field that is not known
   * @example const { id, token } = await auth.apiTokens.create({ name: 'nightly report', access: 'READ' })
   */
  create(token: NewApiToken): Promise<CreatedApiToken>
  /**
   * Tokens, newest first and without their text; expired ones for another 30 days.
   *
   * @throws {AuthError} `invalid_request` for an invalid limit or cursor
   */
  list(filter?: ApiTokenFilter): Promise<Page<ApiTokenEntry>>
  /** Ends a token for good. False when there was no such token. */
  remove(id: string): Promise<boolean>
  /**
   * Creates a token that replaces another, with its name, access and networks. The former one stays valid for the overlap, so
   * that you can give its users the new one. WebSockets that it opened are closed at once.
   *
   * @throws {AuthError} `not_found` unless the token is valid and was not replaced before, `invalid_request`
   * @example const { token } = await auth.apiTokens.rotate(id, { overlap: '1d' })
   */
  rotate(id: string, options?: ApiTokenRotation): Promise<CreatedApiToken>
}

/** `ports` waits for the store to be open. */
export function createApiTokensApi(ports: () => Promise<Ports>): ApiTokensApi {
  const visitor = applicationVisitor
  return {
    create: async (token) => createApiToken(await ports(), { token, visitor }),
    list: async (filter = {}) => listApiTokens(await ports(), filter),
    remove: async (id) => removeApiToken(await ports(), { id, visitor }).then(() => true, missing),
    rotate: async (id, options = {}) => rotateApiToken(await ports(), { id, options, visitor }),
  }
}
