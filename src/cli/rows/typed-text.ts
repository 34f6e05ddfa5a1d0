/** What a text stands for. A date is written as the host reads it. */
export type TypedValue = string | number | boolean | { $date: string }

/**
 * The value of a text of the URL query language: a number, true or false, a date, else the text itself. A bare year is a number.
 *
 * @example typedText('1e3') // 1000
 * @example typedText('2024-01-02') // { $date: '2024-01-02T00:00:00.000Z' }
 */
export function typedText(text: string): TypedValue {
  const number = text === '' ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : typedWord(text)
}

/**
 * The value of a cell that has no quotes. A number that JSON would write in another way stays text, because it would lose what it
 * says: `0151`, `+4791234567`, and more than 15 digits.
 */
export function typedCell(text: string): TypedValue {
  return isPlainNumber(text) ? Number(text) : typedWord(text)
}

function typedWord(text: string): TypedValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const date = dateOf(text)
  return date === null ? text : { $date: date }
}

function isPlainNumber(text: string): boolean {
  if (/^0x[\da-f]{1,12}$/i.test(text)) return true
  const [, whole = '', fraction = ''] = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:e[-+]?\d{1,3})?$/i.exec(text) ?? []
  return whole !== '' && whole.length + fraction.length <= 15 && Number.isFinite(Number(text))
}

const isoDate = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d(?:\.\d{1,9})?))?(Z|[-+]\d\d:?\d\d)?)?$/

/** In ISO 8601 and UTC. A time without a zone counts as UTC, so that each machine reads the same. Null: no date of the calendar. */
function dateOf(text: string): string | null {
  const [, day, minutes = '00:00', seconds = '00', zone = 'Z'] = isoDate.exec(text) ?? []
  if (day === undefined) return null
  const isInCalendar = isoOf(`${day}T00:00:00Z`)?.startsWith(day) ?? false
  return isInCalendar ? isoOf(`${day}T${minutes}:${seconds}${zone.replace(/^(.\d\d)(\d\d)$/, '$1:$2')}`) : null
}

function isoOf(text: string): string | null {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}
