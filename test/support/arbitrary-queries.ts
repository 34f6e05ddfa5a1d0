import fc from 'fast-check'
import type { Document } from '../../src/host/documents/values.js'
import { documentsOf, families, scalar, valuesOf } from './arbitrary-documents.js'

const fields = ['a', 'b', 'a.c', 'a.0', 'a.0.c', 'a.c.d', 'b.getTime', 'b.']
export const field = fc.constantFrom('a', 'a', 'a', ...fields)

const patterns = [
  ...[
    /^a/,
    /^ab/,
    /^ab*/,
    /^a|b/,
    /^(?=a)b?/,
    /^(?=a)?b/,
    /^(?=ab)/,
    /^a/i,
    /^b/m,
    /^a/g,
    /^a\.b/,
    /^a\0/,
    /^a\nb/,
    /b$/,
  ],
  ...[
    /^é+/,
    /^x{3}/,
    /^😀*/,
    /^a\uffff/,
    /^(?:a)?b/,
    /^a.?/s,
    /^[ab]/,
    /^/,
    /^\u{61}b?/u,
    /^ab{0}/,
    /^a\|b/,
    /^(?=ab)?a/,
  ],
]
const comparison = fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq', '$ne')

function conditionsOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const value = valuesOf(scalars)
  const texts = fc.constantFrom('a', 'ab', 'a.b', 'a|b', 'é', 'x'.repeat(200), 'x'.repeat(201), 'a😀', '')
  return fc.oneof(
    { weight: 3, arbitrary: value },
    { weight: 6, arbitrary: fc.dictionary(comparison, scalars, { minKeys: 1, maxKeys: 3, noNullPrototype: true }) },
    { weight: 2, arbitrary: fc.record({ $gte: scalars, $lt: scalars }, { noNullPrototype: true }) },
    fc.tuple(comparison, value).map(([name, each]) => ({ [name]: each })),
    { weight: 2, arbitrary: fc.array(value, { maxLength: 4 }).map(($in) => ({ $in })) },
    fc.constantFrom({ $in: [undefined] }, { $in: [/^a/, 1] }, { $gte: Number.NaN }, { $lte: new Date(Number.NaN) }),
    fc.boolean().map(($exists) => ({ $exists })),
    { weight: 3, arbitrary: fc.constantFrom(...patterns) },
    fc.constantFrom(...patterns).map((pattern) => ({ $regex: pattern.source, $options: pattern.flags })),
    texts.map(($startsWith) => ({ $startsWith })),
    fc.constantFrom({ $startsWith: 'a', $endsWith: 'b' }, { $endsWith: 'b' }, { $size: 1 }, { $type: 'string' }),
    fc.array(scalars, { minLength: 1, maxLength: 2 }).map(($all) => ({ $all })),
    fc.tuple(comparison, scalars).map(([name, each]) => ({ $elemMatch: { [name]: each } })),
    fc.tuple(comparison, scalars).map(([name, each]) => ({ $not: { [name]: each } })),
  )
}

function filtersOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const conditions = fc.tuple(field, conditionsOf(scalars))
  const simple = fc.array(conditions, { minLength: 1, maxLength: 2 }).map((all) => Object.fromEntries(all))
  const joint = fc.tuple(
    fc.constantFrom('$and', '$and', '$or', '$nor'),
    fc.array(simple, { minLength: 1, maxLength: 3 }),
  )
  return fc.oneof(
    { weight: 6, arbitrary: simple },
    joint.map(([name, all]) => ({ [name]: all })),
  )
}

function contentOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<Document[]> {
  return fc.oneof(documentsOf(valuesOf(scalars), 6), documentsOf(scalars, 6))
}

/** Documents and a filter whose scalars are from one source. */
const pairsOf = (scalars: fc.Arbitrary<unknown>) => fc.tuple(contentOf(scalars), filtersOf(scalars))

/** What `make` draws, once from scalars of all kinds and once from each family. */
function ofEachSource<T>(make: (scalars: fc.Arbitrary<unknown>) => fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof(make(scalar), ...families.map((family) => make(fc.constantFrom(...family))))
}

const pair = ofEachSource(pairsOf)

/** Documents and this many filters whose scalars are from one source. */
export const documentsAndFilters = (filters: number) =>
  ofEachSource((scalars) =>
    fc.tuple(contentOf(scalars), fc.array(filtersOf(scalars), { minLength: filters, maxLength: filters })),
  )
export const sort = fc.oneof(
  fc.constant(null),
  fc.tuple(field, fc.constantFrom<1 | -1>(1, -1)).map(([by, way]) => ({ [by]: way })),
)

/** The fields that a filter names. */
function fieldsIn(filter: unknown): string[] {
  if (Array.isArray(filter)) return filter.flatMap(fieldsIn)
  if (typeof filter !== 'object' || filter === null) return []
  return Object.entries(filter).flatMap(([name, value]) => (name.startsWith('$') ? fieldsIn(value) : [name]))
}

/** Mostly a field that the filter names. */
export function indexedField(filter: unknown): fc.Arbitrary<string> {
  const [first, ...others] = fieldsIn(filter)
  if (first === undefined) return field
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(first, ...others) }, field)
}

/** Documents, a filter, and the field of an index. */
export const indexedPair = pair.chain(([documents, filter]) =>
  fc.tuple(fc.constant(documents), fc.constant(filter), indexedField(filter)),
)
