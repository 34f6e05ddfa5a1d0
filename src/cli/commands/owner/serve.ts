import type { Command } from 'commander'
import { SettingsError } from '../../../errors.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

interface Options {
  masterKeyFile?: string
}

export const example = 'latchkey serve --config latchkey.host.json'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--master-key-file <file>', 'The key that opens the encrypted environment, one a line')
    .action(async ({ masterKeyFile }: Options) => {
      const { config = null } = open().options
      const { serve } = await import('../../../host/serve.js').catch(explainMissing)
      // The host ends by these signals itself, after it has answered what runs.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal)
      const asked = await serve({ config, masterKeyFile: masterKeyFile ?? null }).catch(refuseStart)
      if (!asked)
        throw new ToolError(1, 'host_failed', 'The host ended after an unexpected error, which its log names.')
    })
}

function explainMissing(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
  const packages = 'npm install undici@7 mingo@7 tar-stream@3'
  throw new ToolError(2, 'packages_missing', `The host needs more packages: ${packages}`)
}

function refuseStart(error: unknown): never {
  if (!(error instanceof SettingsError)) throw error
  const [message = '', ...lines] = error.message.split('\n')
  throw new ToolError(1, 'host_not_started', message, { lines })
}
