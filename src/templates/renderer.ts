import { builtIn } from './built-in.js'
import { createEnvironment, type Environment, type Escaping, lateHandlebars, type Render } from './environment.js'
import type { Labels } from './labels.js'
import type { Values } from './values.js'

/** Compiles each file when it is first needed, and keeps it. */
export interface Renderer {
  /** Loads what rendering needs; without it the first rendering does so at once. */
  prepare(): Promise<void>
  render(file: string, values: Values): string
  environmentFor(file: string): Environment
}

/** The parts that admin pages are made of. */
const adminParts = /^admin\/(?:actor|banner|confirm|empty|events|form|marked|pager|secret|table|time)\.hbs$/

/** Templates that others use: the layouts, and the parts that several mails or pages share. */
const layoutFiles = Object.keys(builtIn).filter(
  (file) =>
    /\/layout\.[\w.]+$|^mail\/[^/]+$|^pages\/(?:fields|provider-mark|otp-(?:ask|ways)|passkey-(?:confirm|mark|script))\.hbs$/.test(
      file,
    ) || adminParts.test(file),
)

/** @param source the text of a file: the owner's, else ours */
export function createRenderer(source: (file: string) => string | undefined, labels: Labels): Renderer {
  const handlebars = lateHandlebars()
  const environments = new Map<Escaping, Environment>()
  const compiled = new Map<string, Render>()

  function environmentFor(file: string): Environment {
    const escaping = escapingOf(file)
    const made = environments.get(escaping)
    if (made) return made

    const environment = createEnvironment(handlebars.get(), escaping, labels)
    for (const layout of layoutFiles.filter((name) => escapingOf(name) === escaping)) {
      environment.layout(layoutName(layout), source(layout) ?? '')
    }
    environments.set(escaping, environment)
    return environment
  }

  function compile(file: string): Render {
    const text = Object.hasOwn(builtIn, file) ? source(file) : undefined
    if (text === undefined) throw new TypeError(`There is no template ${file}.`)
    const made = environmentFor(file).compile(text)
    compiled.set(file, made)
    return made
  }

  return {
    prepare: () => handlebars.load(),
    render: (file, values) => (compiled.get(file) ?? compile(file))(values),
    environmentFor,
  }
}

export function isLayout(file: string): boolean {
  return layoutFiles.includes(file)
}

/** How that file may call its layouts: `mail/layout.html` is `mail/layout.html.hbs`. Text and HTML have their own. */
export function layoutsFor(file: string): string[] {
  return layoutFiles.filter((name) => escapingOf(name) === escapingOf(file)).map(layoutName)
}

function layoutName(file: string): string {
  return file.replace(/\.hbs$/, '')
}

function escapingOf(file: string): Escaping {
  return file.endsWith('.txt.hbs') ? 'none' : 'html'
}
