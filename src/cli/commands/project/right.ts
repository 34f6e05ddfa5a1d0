import type { Right } from '../../../model/right.js'
import { usage } from '../../tool-error.js'

export const rightOption = '--right <right>'

/** @throws {ToolError} usage */
export function requireRight(text: string | undefined): Right {
  const right = text?.toUpperCase()
  if (right === 'ADMIN' || right === 'MEMBER') return right
  throw usage('--right takes ADMIN, who may do everything, or MEMBER, who reads what shows no secret and no data.')
}
