import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { KeyRotation } from '../../../host/tool/calls.js'
import { variable } from '../../environment.js'
import type { Tool } from '../../tool.js'

interface Options {
  deep?: boolean
  masterKeyFile?: string
}

export const example = 'latchkey keys rotate --config latchkey.host.json'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--deep', 'Make new data keys, and seal every value again')
    .option('--master-key-file <file>', 'As of latchkey serve; its first line is the new key')
    .action(async ({ deep = false, masterKeyFile }: Options) => {
      const { environment, output, localHostToChange } = open()
      const file = masterKeyFile === undefined ? null : resolve(environment.folder, masterKeyFile)
      const host = await localHostToChange()
      const masterKey = variable(environment, 'LATCHKEY_MASTER_KEY')
      const rotation = await host.rotateKeys({ deep, masterKey, masterKeyFile: file })
      output.result(rotation, lines(rotation, deep))
    })
}

function lines({ keyId, formerKeyIds, spaces, file }: KeyRotation, deep: boolean): string[] {
  const count = spaces === 1 ? '1 space' : `${spaces} spaces`
  const done = deep ? `Sealed the environment of ${count} again` : `Wrapped the data keys of ${count} again`
  const place = file ?? 'LATCHKEY_MASTER_KEY'
  return [
    `${done}, under the master key ${keyId}.`,
    ...formerKeyIds.map(
      (id, index) => `The former key ${id} is key ${index + 2} of ${place}. Remove it when no backup needs it.`,
    ),
  ]
}
