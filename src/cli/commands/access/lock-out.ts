import type { NetworkChange } from '../../home.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

export interface LockOutOptions {
  force?: boolean
  confirm?: string
}

/**
 * Makes a change of the allow-list. When the server refuses it because the caller's own address would not be on the list, the
 * person may confirm by typing that address.
 *
 * @throws {ToolError} `would_lock_out`, with the options that confirm it
 */
export async function changeNetworks<T>(
  { prompts }: Pick<Tool, 'prompts'>,
  { change, options, ownIp }: { change: NetworkChange; options: LockOutOptions; ownIp: string | null },
  send: (change: NetworkChange) => Promise<T>,
): Promise<T> {
  const { force = false, confirm } = options
  try {
    return await send({ ...change, ...(force && { force }), ...(confirm !== undefined && { confirm }) })
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'would_lock_out' || ownIp === null || force) throw error
    const question = `After this your own address ${ownIp} may no longer use the API.`
    return send({ ...change, force: true, confirm: await prompts.name(question, ownIp, undefined) })
  }
}
