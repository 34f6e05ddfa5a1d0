import { type Fields, fieldsIn, listIn, numberIn, textIn, WrongField } from '../lib/json-fields.js'
import { parseJson } from '../lib/json-object.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { LinkedProvider } from '../model/identity.js'
import { unavailable } from './refused.js'

/**
 * Reads a column that holds JSON.
 *
 * @throws {AuthError} `store_unavailable`: only another program or a newer version writes another shape there
 */
export function readColumn<Column extends string, T>(
  row: Readonly<Record<Column, string>>,
  column: Column,
  read: (fields: Fields, name: string) => T,
): T {
  try {
    return read({ [column]: parseJson(row[column]) }, column)
  } catch (cause) {
    throw unavailable(cause)
  }
}

export function linkedProvidersIn(fields: Fields, name: string): LinkedProvider[] {
  return listIn(fields, name, (item) => ({ provider: textIn(item, 'provider'), linkedAt: numberIn(item, 'linkedAt') }))
}

export function detailIn(fields: Fields, name: string): AuditEvent['detail'] {
  const entries = Object.entries(fieldsIn(fields, name)).map(([fact, value]): [string, string | number | boolean] => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [fact, value]
    throw new WrongField(name, 'an object of plain values')
  })
  return Object.fromEntries(entries)
}
