import type { StoragePlace } from './messages.js'

/** Where the generations of spaces are kept. A draft is one that is being filled; it gets its name when it is in force. */
export interface GenerationPlaces {
  living(spaceId: string, generation: number): Promise<StoragePlace>
  draft(spaceId: string, generation: number): Promise<StoragePlace>
  /** Whether this generation is there, under its own name. */
  has(spaceId: string, generation: number): Promise<boolean>
  /** A draft that was closed is on the disk when this resolves. */
  syncDraft(spaceId: string, generation: number): Promise<void>
  /** The generation is in force: its draft, if there still is one, gets its name. */
  adoptDraft(spaceId: string, generation: number): Promise<void>
  /** The generations whose drafts are there. */
  drafts(spaceId: string): Promise<number[]>
  /** @param isOver default: all of them */
  removeDrafts(spaceId: string, isOver?: (generation: number) => boolean): Promise<void>
  /** Other hosts keep generations there, too. */
  isShared: boolean
  removeGenerations(spaceId: string, isOver: (generation: number) => boolean): Promise<void>
}
