import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { duration, futureTime } from '../times.js'
import { printCreated } from './created.js'

interface Options {
  overlap?: string
  expires?: string
}

export const example = 'latchkey rotate-token 0zRC4w1Yh6eTqv9bX2kLmA --overlap 1d'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<id>', 'as latchkey tokens prints it')
    .option('--overlap <time>', 'How long the former token stays valid, such as 1d (default: not at all)')
    .option('--expires <time>', 'When the new token ends (default: when the former one would)')
    .action(async (id: string, { overlap, expires }: Options) => {
      const { output, homeToChange } = open()
      const rotation = {
        ...(overlap !== undefined && { overlap: duration(overlap, '--overlap') }),
        ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
      }
      printCreated(output, await (await homeToChange()).rotateApiToken(id, rotation))
    })
}
