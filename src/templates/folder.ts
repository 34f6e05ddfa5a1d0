import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The owner's files by name below the folder, and what is wrong with the folder. */
export interface OwnerFiles {
  files: ReadonlyMap<string, string>
  faults: readonly string[]
}

/**
 * Reads the owner's folder, once and at once: `init` is synchronous, and a template that changes later would be one
 * that nobody has checked. A file whose name is none of ours is a mistake in the name, so it is a fault.
 */
export function readOwnerFolder(folder: string, isKnown: (file: string) => boolean): OwnerFiles {
  const files = new Map<string, string>()
  const faults: string[] = []
  for (const name of listFiles(folder, faults)) {
    if (!isKnown(name)) {
      faults.push(`${name}: there is no template of this name`)
      continue
    }
    const text = readText(join(folder, name))
    if (text === null) faults.push(`${name}: cannot be read as UTF-8 text`)
    else files.set(name, text)
  }
  return { files, faults }
}

/** Names with `/`, sorted. What starts with a dot belongs to an editor or a system and is passed over. */
function listFiles(folder: string, faults: string[]): string[] {
  try {
    return readdirSync(folder, { recursive: true })
      .map((name) => String(name).replaceAll('\\', '/'))
      .filter((name) => !name.split('/').some((part) => part.startsWith('.')))
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
  } catch {
    faults.push('the folder cannot be read')
    return []
  }
}

function readText(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch {
    return null
  }
}
