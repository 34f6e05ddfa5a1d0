/** Why a sealed row does not open: a key is missing, or the row was changed. */
export type SealingFault = 'master_key_missing' | 'data_key_missing' | 'row_changed'

/** A sealed row that does not open. The message names the key's id and the remedy, never a key or a value. */
export class SealingError extends Error {
  readonly fault: SealingFault
  /** Of the missing key; null when the row was changed. */
  readonly keyId: string | null

  constructor(fault: SealingFault, keyId: string | null, message: string) {
    super(message)
    this.name = 'SealingError'
    this.fault = fault
    this.keyId = keyId
  }
}

/** A row names its key as `<key id>.<sealed>`. What has another form is no id, and is not repeated. */
export function keyIdOf(row: string): string {
  const [id = ''] = row.split('.', 1)
  return /^[\w-]{8}$/.test(id) ? id : 'unknown'
}

export function sealedPartOf(row: string): string {
  return row.slice(row.indexOf('.') + 1)
}
