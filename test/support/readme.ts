import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** Rows of the table below a heading of a Markdown file, without its head; code marks are taken off the cells. */
export function tableBelow(file: URL | string, heading: string): string[][] {
  const section = sectionBelow(file, heading)
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|')),
  )
}

/** What stands between a heading and the next one of any level. */
function sectionBelow(file: URL | string, heading: string): string {
  const lines = readFileSync(file, 'utf8').split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start === -1) throw new Error(`${file} has no heading «${heading}»`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line))
  return (end === -1 ? rest : rest.slice(0, end)).join('\n')
}

/** The first fenced block of that language in a section. */
export function codeBelow(file: URL | string, heading: string, language: string): string {
  const [code] = codesBelow(file, heading, language)
  if (code === undefined) throw new Error(`${file} has no ${language} block below «${heading}»`)
  return code
}

/** All of them. */
export function codesBelow(file: URL | string, heading: string, language: string): string[] {
  const blocks = sectionBelow(file, heading).matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))
  return [...blocks].map(([, code = '']) => code)
}

/** A fenced block of a Markdown file. */
interface Block {
  /** The heading that it stands below. */
  heading: string
  language: string
  /** Its info string says `excerpt`: a part of a program, or a command that no test runs. */
  excerpt: boolean
}

/** The fenced blocks of a Markdown file, in their order. */
export function blocksOf(file: URL | string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let inside = false
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [fence, language = '', more = ''] = /^```(\w*)(.*)$/.exec(line) ?? []
    if (fence === undefined) {
      if (!inside && /^#+ /.test(line)) heading = line.replace(/^#+ /, '')
      continue
    }
    if (!inside) blocks.push({ heading, language, excerpt: more.trim().split(/\s+/).includes('excerpt') })
    inside = !inside
  }
  return blocks
}

/** A setting by its dotted name, with the default that its schema gives it; null where the schema gives none. */
export interface SettingRow {
  name: string
  fallback: string | null
}

/** The settings that a schema knows, objects of settings taken apart. */
export function settingsOf(schema: z.ZodType, prefix = ''): SettingRow[] {
  const { bare, fallback } = unwrapped(schema)
  if (!(bare instanceof z.ZodObject)) return [{ name: prefix, fallback }]
  return Object.entries(bare.shape).flatMap(([key, inner]) =>
    settingsOf(asType(inner), prefix === '' ? key : `${prefix}.${key}`),
  )
}

/** Names in a request body: `?` where one may be left out, `…` where the application may add its own. */
export function bodyOf(schema: z.ZodType | null): string {
  if (schema === null) return ''
  const { bare } = unwrapped(schema)
  if (bare instanceof z.ZodUnion) return bare.options.map((option) => bodyOf(asType(option))).join(' or ')
  if (!(bare instanceof z.ZodObject)) return 'anything'
  const names = Object.entries(bare.shape).map(([name, inner]) => (asType(inner).isOptional() ? `${name}?` : name))
  return [...names, ...(bare.def.catchall instanceof z.ZodUnknown ? ['…'] : [])].join(', ')
}

/** Takes defaults, optionality and transforms off a schema and keeps the literal default. */
function unwrapped(schema: z.ZodType): { bare: z.ZodType; fallback: string | null } {
  let bare = schema
  let fallback: string | null = null
  for (;;) {
    if (bare instanceof z.ZodDefault || bare instanceof z.ZodPrefault) {
      fallback ??= typeof bare.def.defaultValue === 'object' ? null : String(bare.def.defaultValue)
      bare = asType(bare.def.innerType)
    } else if (bare instanceof z.ZodOptional || bare instanceof z.ZodNullable) bare = asType(bare.def.innerType)
    else if (bare instanceof z.ZodPipe) bare = asType(bare.def.in)
    else return { bare, fallback }
  }
}

function asType(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema
  throw new TypeError('a schema of zod/core, not of zod')
}
