import { createApiToken, listApiTokens, removeApiToken, rotateApiToken } from '../flows/control/api-tokens.js'
import type { Page } from '../model/account.js'
import type {
  ApiTokenEntry,
  ApiTokenFilter,
  ApiTokenRotation,
  CreatedApiToken,
  NewApiToken,
} from '../model/api-token.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/**
 * Tokens for other programs, for the application's own code: no route makes, lists or ends one. What ends a token takes
 * effect in this process at once and in every other within a second; everything is audited.
 */
export interface ApiTokensApi {
  /**
   * Makes a token. Its text is in the answer and nowhere else: only a keyed digest is kept.
   *
   * @throws {AuthError} `invalid_request`, also for a field that is not known
   * @example const { id, token } = await auth.apiTokens.create({ name: 'nightly report', access: 'READ' })
   */
  create(token: NewApiToken): Promise<CreatedApiToken>
  /**
   * The newest first, without the tokens themselves; expired ones for another 30 days.
   *
   * @throws {AuthError} `invalid_request` for a limit or cursor that cannot be
   */
  list(filter?: ApiTokenFilter): Promise<Page<ApiTokenEntry>>
  /** Ends a token for good. False when there was none. */
  remove(id: string): Promise<boolean>
  /**
   * Makes a token that takes the place of another, with its name, access and networks. The former one lives on for the
   * overlap, so that whoever sends it can be told; WebSockets that it opened are closed at once.
   *
   * @throws {AuthError} `not_found` unless the token lives and was not replaced before, `invalid_request`
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
    remove: async (id) => removeApiToken(await ports(), { id, visitor }),
    rotate: async (id, options = {}) => rotateApiToken(await ports(), { id, options, visitor }),
  }
}
