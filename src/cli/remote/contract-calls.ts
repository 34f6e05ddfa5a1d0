import type { contract } from '../../contract/contract.js'
import type { Operation } from '../../contract/operation.js'
import type { AnswerOf, BodyOf, PageOf } from '../../contract/reading.js'
import { isObject, parseJson } from '../../lib/json-object.js'
import type { Address } from '../address.js'
import { type Client, path as pathOf } from './calls.js'
import { asOurs, notOurs } from './send.js'
import { narrowed, type Only, readShape, type Shape } from './shape.js'

/** An operation of the control API as the tool calls it. */
export interface CallLine<Of extends Operation = Operation> {
  method: Of['method']
  path: string
  /** In the host it is below `/spaces/:space`. */
  inSpace: boolean
  /** The JSON of the answer. Null for an empty answer and for one in lines. */
  answer: Shape | null
  /** It may also answer with nothing. */
  mayBeEmpty?: true
  /** Carries the types of input and answer; never there. */
  readonly of?: Of
}

type Contract = typeof contract

/** A line for each operation, by its noun. */
export type ContractTable = {
  readonly [Noun in keyof Contract]: {
    readonly [Name in keyof Contract[Noun]]: Contract[Noun][Name] extends Operation
      ? CallLine<Contract[Noun][Name]>
      : never
  }
}

export interface CallInput<Of extends Operation> {
  /** Values of `:name` segments. */
  params?: Readonly<Record<string, string>>
  /** Parameters that are undefined are left out. */
  query?: { readonly [Name in keyof Of['query']]?: string | number | undefined }
  body?: BodyOf<Of>
}

/** Calls an operation. */
export interface Run {
  <Of extends Operation>(line: CallLine<Of>, input?: CallInput<Of>): Promise<AnswerOf<Of>>
  /** `only`: the fields of an entry that are read, so that an older server need not have the others. */
  <Of extends Operation, const Kept extends Only>(
    line: CallLine<Of>,
    input: CallInput<Of>,
    only: Kept,
  ): Promise<KeptOf<AnswerOf<Of>, Kept>>
}

type KeptOf<Answer, Kept extends Only> =
  Answer extends PageOf<infer Item>
    ? PageOf<Picked<Item, Kept>>
    : Answer extends { items: readonly (infer Item)[] }
      ? { items: readonly Picked<Item, Kept>[] }
      : Picked<Answer, Kept>

type Picked<Entry, Kept extends Only> = {
  [Name in keyof Kept & keyof Entry]: Kept[Name] extends 'or null'
    ? Entry[Name] | null
    : Kept[Name] extends Only
      ? Entry[Name] extends readonly (infer Item)[]
        ? readonly Picked<Item, Kept[Name]>[]
        : Entry[Name]
      : Entry[Name]
}

/** @param below the path of a space's route, as it is in this home */
export function createRun(client: Client, { site }: Address, below: (target: string) => Promise<string> | string): Run {
  return run

  // The build writes the shape of an answer from its schema, and `readShape` reads by it: so the value has the type of the schema.
  function run<Of extends Operation>(line: CallLine<Of>, input?: CallInput<Of>): Promise<AnswerOf<Of>>
  function run<Of extends Operation, const Kept extends Only>(
    line: CallLine<Of>,
    input: CallInput<Of>,
    only: Kept,
  ): Promise<KeptOf<AnswerOf<Of>, Kept>>
  async function run<Of extends Operation>(
    line: CallLine<Of>,
    { params = {}, query, body }: CallInput<Of> = {},
    only: Only | null = null,
  ): Promise<unknown> {
    const target = pathIn(line, params)
    const path = line.inSpace ? await below(target) : target
    const { status, text } = await client.answer({
      method: line.method,
      path,
      ...(query !== undefined && { query }),
      ...(body !== undefined && { body }),
    })
    if (line.answer === null || (line.mayBeEmpty && status === 204)) return undefined
    return readAnswer(only === null ? line.answer : narrowed(line.answer, only), text, site)
  }
}

/** @throws {ToolError} when the answer has another shape */
function readAnswer(shape: Shape, text: string, site: string): unknown {
  const value = parseJson(text)
  const isList = typeof shape === 'object' && 'list' in shape
  if (!isList && !isObject(value)) throw notOurs(site, 'no JSON object')
  return asOurs(site, () => readShape(shape, { list: value ?? null }, 'list'))
}

/** The path of a line with its segments filled and encoded. @throws {ToolError} usage, for `.` and `..` */
function pathIn({ path }: Pick<CallLine, 'path'>, params: Readonly<Record<string, string>>): string {
  const segments = path.split('/').slice(1)
  return segments.length === 0
    ? '/'
    : segments.map((segment) => pathOf(segment.startsWith(':') ? (params[segment.slice(1)] ?? '') : segment)).join('')
}

/** Where an operation on a space is sent, for calls whose answer arrives in rows. @param space its path */
export function inSpace<Of extends Operation>(
  space: string,
  line: CallLine<Of>,
  params: Readonly<Record<string, string>> = {},
): { method: Of['method']; path: string } {
  return { method: line.method, path: `${space}${pathIn(line, params)}` }
}
