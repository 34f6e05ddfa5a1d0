import type { Command } from 'commander'
import { newSecret } from '../../lib/random.js'
import type { Tool } from '../tool.js'

export const example = 'latchkey secret >> .env'

export function define(command: Command, open: () => Tool): void {
  command.action(() => {
    const secrets = { JWT_ACCESS_TOKEN_SECRET: newSecret(), JWT_REFRESH_TOKEN_SECRET: newSecret() }
    const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}`)
    open().output.result(secrets, lines)
  })
}
