import type { z } from 'zod'
import type { Operation } from './operation.js'

/** An entry of the contract as the server answers with it. Lists are read only. */
export type Entry<Schema extends z.ZodType> = Unchanged<z.output<Schema>>

type Unchanged<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanged<Item>[]
  : Value extends object
    ? { [Name in keyof Value]: Unchanged<Value[Name]> }
    : Value

/** What the tool reads of an answer: words of a list are any text, and a field that may be missing is null there. */
export type Read<Value> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Read<Item>[]
    : Value extends object
      ? {
          [Name in keyof Value as string extends Name ? never : Name]-?:
            | Read<Exclude<Value[Name], undefined>>
            | NullIfMissing<Value[Name]>
        }
      : Value

type NullIfMissing<Value> = unknown extends Value ? never : undefined extends Value ? null : never

/** The answer of an operation; undefined where it answers with nothing. */
export type AnswerOf<Of extends Operation> = Of extends { answers: infer Answers }
  ? {
      [Status in keyof Answers]: Answers[Status] extends z.ZodType ? Read<z.output<Answers[Status]>> : undefined
    }[keyof Answers]
  : undefined

/** An entry of a list. */
export type ItemOf<Of extends Operation> =
  AnswerOf<Of> extends { items: readonly (infer Item)[] }
    ? Item
    : AnswerOf<Of> extends readonly (infer Item)[]
      ? Item
      : never

/** The body of an operation as a program sends it: what a form sends as a text is a list, true or false here. */
export type BodyOf<Of extends Operation> = Of['body'] extends z.ZodType ? Programs<z.input<Of['body']>> : never

type Programs<Body> = {
  [Name in keyof Body]: [Extract<Body[Name], boolean | readonly unknown[]>] extends [never]
    ? Body[Name]
    : Exclude<Body[Name], string>
}

/** The filters of a list. */
export type FilterOf<Of extends Operation> = {
  [Name in Exclude<keyof Of['query'], 'limit' | 'cursor'>]?: string
}

/** A page of a list. */
export interface PageOf<Item> {
  items: readonly Item[]
  /** For the next page; null on the last. */
  nextCursor: string | null
}
