import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { requireTarget, type Target, writePartFile } from '../../files/part-file.js'
import type { Output } from '../../output.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { quantity, size } from '../sizes.js'

interface Options {
  file?: string
  force?: boolean
}

export const example = 'latchkey backup -f dev.tar.gz'

export function define(command: Command, open: () => Tool): void {
  command
    .option(
      '-f, --file <file>',
      'The file to write; - for stdout (default: space and time, as in dev-20260131T1200Z.tar.gz)',
    )
    .option('--force', 'Replace the file if there is one')
    .action(async ({ file, force = false }: Options) => {
      const { environment, output, hostHome } = open()
      const targetOf = (path: string) => ({ path, folder: environment.folder, force, note: output.note })
      // Before the host reads anything.
      if (file === '-' && environment.stdout.isTTY) throw usage('A backup is no text for a terminal. Name a file.')
      if (file !== undefined && file !== '-') requireTarget(targetOf(file))
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
      const target = file === '-' ? null : targetOf(file ?? name)
      await write(output, target, passed()).finally(progress.stop)
      const sha256 = seen.hash.digest('hex')
      const sum = `Backup of ${space}: ${quantity(collections, 'collection')}, ${quantity(documents, 'object')}, sha256 ${sha256}`
      if (target === null) output.note(sum)
      else {
        const result = { space, file: target.path, collections, objects: documents, bytes: seen.bytes, sha256 }
        output.result(result, [sum, `Written to ${target.path}`])
      }
    })
}

/** To a file, or with null to stdout. */
async function write(output: Output, target: Target | null, parts: AsyncIterable<Uint8Array>): Promise<void> {
  if (target !== null) return writePartFile(target, parts)
  for await (const part of parts) await output.bytes(part)
}
