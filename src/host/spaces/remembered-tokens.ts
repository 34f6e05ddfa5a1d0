import type { SpacePorts } from '../../http/route.js'
import type { RemovedTokens } from '../store/backups.js'

type ApiTokens = SpacePorts['apiTokens']

/** As `RandomSource.id` makes them. Other texts name no token, and would only fill the table. */
const tokenId = /^[\w-]{22}$/

/** The API tokens of a space, of which those that are removed or replaced are noted before they go: no backup brings them back. */
export function rememberedTokens(apiTokens: ApiTokens, removedTokens: RemovedTokens, spaceId: string): ApiTokens {
  const note = async (id: string) => {
    if (tokenId.test(id)) await removedTokens.add(spaceId, id)
  }
  return {
    ...apiTokens,
    async remove(id, step) {
      await note(id)
      return apiTokens.remove(id, step)
    },
    async rotate(replacement, step) {
      await note(replacement.id)
      return apiTokens.rotate(replacement, step)
    },
  }
}
