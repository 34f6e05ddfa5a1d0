import type { z } from 'zod'

/**
 * One operation of the control API, described once. Its route parses with `body`, the reference prints all of it, and the tool
 * calls it by method and path and reads the answer by its schema.
 */
export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/admin/api`; `:name` stands for one segment. The empty path is the root. */
  path: string
  /** Where it exists. `space`: in an application, and in the host below `/spaces/:space`. Default: in both homes alike. */
  home?: 'application' | 'host' | 'space'
  /** `admin`: the right ADMIN. `member`: the right ADMIN or MEMBER. `open`: no credential. */
  who: 'admin' | 'member' | 'open'
  /** Needs a sign-in that is at most `admin.recent` old. */
  recent?: true
  /** `confirm` in the body must repeat what is about to be lost. A text names the requests that need it. */
  confirm?: true | string
  /** The command of the tool that calls it. */
  command?: string
  /** The command for which it takes an admin token of the host; `any`: it takes each. */
  adminToken?: string
  /** One sentence for docs and reference. */
  summary: string
  /** Query parameters, each with a sentence for the reference. */
  query?: Readonly<Record<string, string>>
  /** Null: it reads no body as JSON. */
  body: z.ZodType | null
  /** Successful answers by status: JSON by its schema, `lines` for JSON lines, null for none. */
  answers?: Readonly<Record<number, z.ZodType | 'lines' | null>>
  /** Error codes beside those of every route. */
  errors?: readonly string[]
}

/** Keeps the exact types of a table of operations. */
export function defineOperations<const Table extends Readonly<Record<string, Operation>>>(table: Table): Table {
  return table
}
