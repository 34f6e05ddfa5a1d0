import type { Command } from 'commander'
import { SettingsError } from '../../../errors.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'

interface Options {
  masterKeyFile?: string
}

export const example = 'latchkey serve --config latchkey.host.json'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--master-key-file <file>', 'The key that opens the encrypted environment, one a line')
    .action(async ({ masterKeyFile }: Options) => {
      const { config = null, envFile } = open().options
      if (envFile !== undefined) throw usage('The host reads no --env-file. Set its variables in its environment.')
      const { serve, isMorePackages } = await import('../../../host/serve.js')
      // The host ends by these signals itself, after it has answered what runs.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal)
      const asked = await serve({ config, masterKeyFile: masterKeyFile ?? null }).catch((error: unknown) => {
        throw error instanceof SettingsError ? refusal(error, isMorePackages(error)) : error
      })
      if (!asked)
        throw new ToolError(1, 'host_failed', 'The host ended after an unexpected error, which its log names.')
    })
}

/** Without its packages the host was not installed as it must be; any other fault is one of the start. */
function refusal({ message }: SettingsError, isMissing: boolean): ToolError {
  const [first = '', ...lines] = message.split('\n')
  return isMissing
    ? new ToolError(2, 'packages_missing', first, { lines })
    : new ToolError(1, 'host_not_started', first, { lines })
}
