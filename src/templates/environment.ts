import { createRequire } from 'node:module'
import type Handlebars from 'handlebars'
import { type LateModule, lateModule } from '../lib/late-module.js'
import { fillLabel, type Labels } from './labels.js'
import { codeIn, linkIn, splitLinks } from './mail-text.js'
import { shortTime, type Values } from './values.js'

export type Escaping = 'html' | 'none'

export type Render = (values: Values) => string

/** Compiles templates. HTML and text have one each, because a partial compiled for text must never end up unescaped in HTML. */
export interface Environment {
  /** Throws when the text is no template. */
  compile(text: string): Render
  /** Makes a template into which others can be put: `{{#> name}}…{{/name}}`. */
  layout(name: string, text: string): void
  /** The syntax tree, after the compiler has accepted the text. Throws when the text is no template. */
  inspect(text: string): unknown
}

/** `log` would write values to the console. The other two were used by exploits (CVE-2021-23369, CVE-2021-23383). */
const knownHelpers = {
  label: true,
  links: true,
  codeIn: true,
  linkIn: true,
  shortTime: true,
  log: false,
  helperMissing: false,
  blockHelperMissing: false,
}

const noPrototypes = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false }

/** handlebars takes tens of milliseconds to load, so it loads with the first page or mail, or the application's folder. */
export function lateHandlebars(): LateModule<typeof Handlebars> {
  return lateModule(
    async () => (await import('handlebars')).default,
    () => createRequire(import.meta.url)('handlebars'),
  )
}

/**
 * An environment of its own, in strict mode: an unknown value or helper is an error, never an empty place in a mail.
 */
export function createEnvironment(shared: typeof Handlebars, escaping: Escaping, labels: Labels): Environment {
  const handlebars = shared.create()
  const options = {
    strict: true,
    knownHelpersOnly: true,
    knownHelpers,
    noEscape: escaping === 'none',
    preventIndent: true,
  }

  handlebars.registerHelper('label', (name: unknown, { data, hash }: Handlebars.HelperOptions) => {
    if (typeof name !== 'string' || !Object.hasOwn(labels, name)) throw new TypeError(`There is no label ${name}.`)
    return fillLabel(labels[name] ?? '', { ...data.root, ...hash })
  })

  handlebars.registerHelper('links', splitLinks)
  handlebars.registerHelper('codeIn', codeIn)
  handlebars.registerHelper('linkIn', linkIn)
  handlebars.registerHelper('shortTime', (iso: unknown, { data }: Handlebars.HelperOptions) =>
    shortTime(iso, data.root.lang),
  )

  return {
    compile(text) {
      const render = handlebars.compile<Values>(requireText(text), options)
      return (values) => render(values, noPrototypes)
    },
    layout(name, text) {
      handlebars.registerPartial(name, handlebars.compile(requireText(text), options))
    },
    inspect(text) {
      handlebars.precompile(requireText(text), options)
      return handlebars.parse(text)
    },
  }
}

/** Handlebars also accepts syntax trees and turns them into code (CVE-2026-33937), so only text is allowed. */
function requireText(text: unknown): string {
  if (typeof text !== 'string') throw new TypeError('A template must be a string.')
  return text
}
