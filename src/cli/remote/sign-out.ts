import type { Address } from '../address.js'
import type { Credentials, SignIn } from '../files/credentials.js'
import { ToolError } from '../tool-error.js'
import { sendOpen } from './signed-in.js'

/**
 * Ends the saved session at the server and forgets it. It is forgotten also when the server cannot be reached.
 *
 * @returns whether the server ended it
 * @throws {ToolError} `not_signed_in`
 */
export async function signOut(address: Address, credentials: Credentials): Promise<boolean> {
  const signIn = credentials.read(address.api)
  if (signIn === null) throw new ToolError(3, 'not_signed_in', `You are not signed in to ${address.site}.`)
  try {
    return await endSession(address, signIn)
  } finally {
    await credentials.save(address.api, null)
  }
}

/** Whether the server ended the session of that sign-in. */
export async function endSession(address: Address, { refreshToken }: SignIn): Promise<boolean> {
  try {
    await sendOpen({ method: 'POST', url: `${address.auth}/logout`, body: { refreshToken } })
    return true
  } catch (error) {
    if (error instanceof ToolError) return false
    throw error
  }
}
