import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { requireTarget, writePartFile } from '../../files/part-file.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { counted, size } from '../sizes.js'

interface Options {
  file?: string
  force?: boolean
}

export const example = 'latchkey backup -f dev.tar.gz'

export function define(command: Command, open: () => Tool): void {
  command
    .option('-f, --file <file>', 'The file to write (default: space and time, as in dev-20260131T1200Z.tar.gz)')
    .option('--force', 'Replace the file if there is one')
    .action(async ({ file, force = false }: Options) => {
      const { environment, output, hostHome } = open()
      const targetOf = (path: string) => ({ path, folder: environment.folder, force })
      // Before the host reads anything.
      if (file !== undefined) requireTarget(targetOf(file))
      const host = await hostHome()
      const space = host.space()
      const { name, collections, documents, bytes } = await host.backUp()
      const progress = await startProgress(environment, `Backing up ${space}`, output.json)
      const seen = { bytes: 0, hash: createHash('sha256') }
      async function* passed() {
        for await (const part of bytes) {
          seen.hash.update(part)
          seen.bytes += part.length
          progress.step(`Backing up ${space}, ${size(seen.bytes)}`)
          yield part
        }
      }
      const target = targetOf(file ?? name)
      await writePartFile(target, passed()).finally(progress.stop)
      const sha256 = seen.hash.digest('hex')
      const result = { space, file: target.path, collections, objects: documents, bytes: seen.bytes, sha256 }
      output.result(result, [
        `Backup of ${space}: ${counted(collections, 'collection')}, ${counted(documents, 'object')}, sha256 ${sha256}`,
        `Written to ${target.path}`,
      ])
    })
}
