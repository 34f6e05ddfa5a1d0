import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  adoptDraft,
  draftFile,
  findDrafts,
  generationFile,
  hasGeneration,
  removeDrafts,
  removeGenerations,
  syncDraft,
} from '../folder/generation-files.js'
import type { GenerationPlaces } from '../storage/generation-places.js'

/** Files in the folder of each space. @param folder with a folder for each space */
export function filePlaces(folder: string): GenerationPlaces {
  const folderOf = (spaceId: string) => join(folder, spaceId)

  async function made(spaceId: string): Promise<string> {
    await mkdir(folderOf(spaceId), { recursive: true, mode: 0o700 })
    return folderOf(spaceId)
  }

  return {
    living: async (spaceId, generation) => ({ file: generationFile(await made(spaceId), generation) }),
    draft: async (spaceId, generation) => ({ file: draftFile(await made(spaceId), generation) }),
    has: (spaceId, generation) => hasGeneration(folderOf(spaceId), generation),
    syncDraft: (spaceId, generation) => syncDraft(folderOf(spaceId), generation),
    adoptDraft: (spaceId, generation) => adoptDraft(folderOf(spaceId), generation),
    drafts: (spaceId) => findDrafts(folderOf(spaceId)),
    removeDrafts: (spaceId, isOver) => removeDrafts(folderOf(spaceId), isOver),
    // The lock of the folder keeps every other host out.
    isShared: false,
    removeGenerations: (spaceId, isOver) => removeGenerations(folderOf(spaceId), isOver),
  }
}
