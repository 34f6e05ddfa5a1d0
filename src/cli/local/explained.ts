import { AuthError, SettingsError } from '../../errors.js'
import { ToolError, usage } from '../tool-error.js'

/**
 * Runs a step in a database, whose faults become errors of the tool.
 *
 * @throws {ToolError} usage for what the tool refuses to open; `store_unavailable` when the database cannot be reached
 */
export async function explained<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    // Its class would load the store before a command needs it.
    if (error instanceof Error && error.name === 'ToolRefusal') throw usage(error.message)
    if (error instanceof SettingsError || error instanceof AuthError || error instanceof ToolError) throw error
    throw new ToolError(5, 'store_unavailable', messageOf(error))
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
