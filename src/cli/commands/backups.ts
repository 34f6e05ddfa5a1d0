import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineCommand } from '../command.js'
import { requireTarget, type Target, writePartFile } from '../files/part-file.js'
import { noFile } from '../files/trusted-file.js'
import type { HostHome, Restored, RestoreUpload } from '../host-home.js'
import type { Output } from '../output.js'
import { startProgress } from '../progress.js'
import type { Tool } from '../tool.js'
import { usage } from '../tool-error.js'
import { quantity, size } from './units.js'

export const backup = defineCommand({
  example: 'latchkey backup -f dev.tar.gz',
  options: [
    ['-f, --file <file>', 'The file to write; - for stdout (default: space and time, as in dev-20260131T1200Z.tar.gz)'],
    ['--force', 'Replace the file if there is one'],
  ],
  async run({ environment, output, hostHome }, { file, force = false }) {
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
  },
})

/** To a file, or with null to stdout. */
async function write(output: Output, target: Target | null, parts: AsyncIterable<Uint8Array>): Promise<void> {
  if (target !== null) return writePartFile(target, parts)
  for await (const part of parts) await output.bytes(part)
}

export const restore = defineCommand({
  example: 'latchkey restore dev.tar.gz',
  arguments: [['[file]', 'an archive of latchkey backup']],
  options: [
    ['--verify-only', 'Check everything and change nothing'],
    ['--release', 'Put the release of the archive in force, too'],
    ['--settings', 'Bring its settings, too. Not with an admin token'],
    ['--foreign', 'It may be of another installation. Not with an admin token'],
    ['--undo', 'Switch back to the data before the last restore, within 24 hours'],
    ['--confirm <space>', 'The name of the space, instead of typing it. For an archive of another: dev,prod'],
  ],
  async run(tool, file, { undo = false, ...options }) {
    if (undo) {
      if (file !== undefined || Object.keys(options).length > 0)
        throw usage('--undo takes no file and no other option.')
      return undoRestore(tool)
    }
    if (file === undefined) throw usage('Name the archive to restore, or switch back with --undo.')
    const archive = await openArchive(resolve(tool.environment.folder, file))
    const host = await tool.hostHomeToChange()
    const { verifyOnly = false, release = false, settings = false, foreign = false } = options
    const confirm = verifyOnly ? {} : { confirm: await confirmed(tool, host.space(), options.confirm) }
    const asked = { ...archive, ...confirm, verify: verifyOnly, release, settings, foreign }
    const restored = await uploadArchive(tool, host, asked)
    if (verifyOnly) showVerified(tool, restored)
    else showRestored(tool, host.space(), restored)
  },
})

/** The host says which other name it wants for an archive of another space. */
async function confirmed({ prompts }: Tool, space: string, confirm: string | undefined): Promise<string> {
  if (confirm?.startsWith(`${space},`)) return confirm
  const question = `This replaces the data of ${space}. It can be undone for 24 hours.`
  return prompts.name(question, space, confirm)
}

async function undoRestore({ output, hostHomeToChange }: Tool): Promise<void> {
  const host = await hostHomeToChange()
  const space = host.space()
  await host.undoRestore()
  const again = 'Switch forth again within 24 h: latchkey restore --undo'
  output.result({ space, undone: true }, [`${space} has the data of before again. ${again}`])
}

/** @throws {ToolError} usage, before anything is sent */
async function openArchive(path: string): Promise<Pick<RestoreUpload, 'open' | 'size'>> {
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isFile()) throw noFile(path)
  return { open: () => createReadStream(path), size: found.size }
}

/** Uploads an archive with its progress on stderr, and waits until it is restored. */
async function uploadArchive(
  { environment, output }: Tool,
  host: HostHome,
  asked: Omit<RestoreUpload, 'onSent' | 'onStep'>,
): Promise<Restored> {
  const total = size(asked.size)
  const progress = await startProgress(environment, `Uploading ${total}`, output.json)
  const onSent = (bytes: number) =>
    progress.step(`Uploading ${size(bytes)} of ${total}`, bytes / Math.max(1, asked.size))
  const onStep: RestoreUpload['onStep'] = ({ processed, of, field }) =>
    progress.step(
      field === null ? `${processed} of ${of} objects` : `Index for ${field}, ${processed} of ${of} objects`,
    )
  return host.restore({ ...asked, onSent, onStep }).finally(progress.stop)
}

function showVerified({ output }: Tool, restored: Restored): void {
  const { time, collections, documents } = restored
  output.result({ ...restored, verified: true }, [
    `The archive is whole: ${quantity(collections, 'collection')}, ${quantity(documents, 'object')} of ${minute(time)}.`,
    'Nothing was changed.',
    ...notesOf(restored),
  ])
}

function showRestored({ output }: Tool, space: string, restored: Restored): void {
  const { time, release } = restored
  output.result({ space, ...restored }, [
    `Restored ${space} to ${minute(time)}. Undo within 24 h: latchkey restore --undo`,
    ...(release === null ? [] : [`Release ${release} serves.`]),
    ...notesOf(restored),
  ])
}

/** What the user has to do. */
function notesOf({ setAgain, warnings }: Restored): string[] {
  const { environment, apiTokens } = setAgain
  return [
    ...(environment.length > 0 ? [`Set these variables again: ${environment.join(', ')}`] : []),
    ...(apiTokens.length > 0 ? [`Create these API tokens again: ${apiTokens.join(', ')}`] : []),
    ...warnings,
  ]
}

/** `2026-11-24T08:00Z` */
function minute(time: string): string {
  return `${time.slice(0, 16)}Z`
}
