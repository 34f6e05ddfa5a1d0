import type { Address } from '../address.js'
import { ToolError } from '../tool-error.js'
import { type Client, createCalls } from './calls.js'
import { userAgent } from './signed-in.js'

/** Sends calls with an admin token. It is neither saved nor renewed. */
export function createTokenClient(address: Address, token: string): Client {
  const headers = { ...userAgent(), 'x-admintoken': token }
  return {
    caller: `with admin token ${token.slice(0, 5)}…`,
    credential: async () => headers,
    ...createCalls(address, async (step) => {
      try {
        return await step(headers)
      } catch (error) {
        throw withRemedy(error, address)
      }
    }),
  }
}

function withRemedy(error: unknown, { site }: Address): unknown {
  if (!(error instanceof ToolError) || error.details.status !== 401) return error
  const lines = [`${site} does not accept the admin token. It may have ended, or belong to another host.`]
  return new ToolError(3, error.code, error.message, { ...error.details, lines })
}
