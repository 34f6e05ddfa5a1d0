import { pathToFileURL } from 'node:url'
import type * as mingo from 'mingo'
import { StoreError } from './store-error.js'

/** The part of mingo that decides filters, updates, sorting and projections. */
export type Mingo = Pick<typeof mingo, 'Query' | 'find' | 'update'>

/** mingo runs no function of a query. Filters with `$where`, `$function` or `$accumulator` never reach it. */
export const queryOptions = { scriptEnabled: false } as const

/**
 * Loads mingo.
 *
 * @param file its CommonJS build; Node cannot resolve the ES build under the permission model
 */
export async function loadMingo(file: string): Promise<Mingo> {
  const { default: loaded }: { default: unknown } = await import(pathToFileURL(file).href)
  if (!isMingo(loaded)) throw new StoreError('store_unavailable', 'The file is not mingo 7.')
  return loaded
}

function isMingo(value: unknown): value is Mingo {
  return typeof value === 'object' && value !== null && 'Query' in value && 'find' in value && 'update' in value
}
