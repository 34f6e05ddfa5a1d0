import type { Filter } from '../collection-calls.js'
import type { Condition } from './condition.js'

/** Conditions that list values: the first takes one, the second several. */
const lists = [
  ['$eq', '$in'],
  ['$ne', '$nin'],
] as const

/** All conditions as one filter. What does not fit beside an equal operator of the same field goes into `$and`. */
export function joinConditions(conditions: readonly Condition[]): Filter {
  const names = [...new Set(conditions.map(({ field }) => field))]
  const apart: Filter[] = []
  const entries = names.map((name): [string, unknown] => {
    const operators = new Map<string, unknown>()
    for (const { operator, value } of merged(conditions.filter(({ field }) => field === name))) {
      if (operators.has(operator)) apart.push({ [name]: written(new Map([[operator, value]])) })
      else operators.set(operator, value)
    }
    return [name, written(operators)]
  })
  return { ...Object.fromEntries(entries), ...(apart.length > 0 && { $and: apart }) }
}

/** A repeated `name=a&name=b` means either of both. */
function merged(conditions: readonly Condition[]): Pick<Condition, 'operator' | 'value'>[] {
  const rest = conditions.filter(({ operator }) => !lists.flat().some((each) => each === operator))
  const joined = lists.flatMap(([one, several]) => {
    const same = conditions.filter(({ operator }) => operator === one || operator === several)
    const values = same.flatMap(({ operator, value }) => (operator === several ? value : [value]))
    return values.length === 0
      ? []
      : [{ operator: values.length === 1 ? one : several, value: values.length === 1 ? values[0] : values }]
  })
  return [...joined, ...rest]
}

function written(operators: ReadonlyMap<string, unknown>): unknown {
  if (operators.size === 1 && operators.has('$eq')) return operators.get('$eq')
  const { $regex: pattern, ...rest } = Object.fromEntries(operators)
  return typeof pattern === 'object' && pattern !== null ? { ...rest, ...pattern } : Object.fromEntries(operators)
}
