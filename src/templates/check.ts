import type { SettingsFault } from '../errors.js'
import { oneLine } from '../lib/one-line.js'
import { readableOn } from './assets.js'
import { compileFault, inspectTemplate, namesIn, type TemplateFault } from './inspect.js'
import { defaultLabels, type Labels } from './labels.js'
import { splitLinks } from './mail-text.js'
import { isLayout, layoutsFor, type Renderer } from './renderer.js'
import { layoutValues, samples } from './samples.js'
import type { Templates } from './templates.js'
import { labelFaults } from './translations.js'
import type { Values } from './values.js'

/** What is wrong with the settings that pages and mails are made with. */
export function optionFaults(options: {
  brand: { accentColor: string | null }
  labels: Labels
  locale: string
}): SettingsFault[] {
  const unknown = Object.keys(options.labels).filter((name) => !Object.hasOwn(defaultLabels, name))
  const faults = unknown.map((name) => ({ setting: 'labels', message: `there is no label ${oneLine(name)}` }))
  const { accentColor } = options.brand
  if (accentColor !== null && readableOn(accentColor) === null) {
    faults.push({ setting: 'brand', message: 'accentColor must be #rgb or #rrggbb' })
  }
  try {
    Intl.getCanonicalLocales(options.locale)
  } catch {
    faults.push({ setting: 'locale', message: 'must be a language tag such as en or pt-BR' })
  }
  return faults
}

/** What the owner's files say that cannot be, on any branch, each with its file and line. */
export function ownerFaults(
  files: ReadonlyMap<string, string>,
  from: { renderer: Renderer; labels: Labels; common: Values },
): SettingsFault[] {
  // What the helper `links` makes has names of its own.
  const always = namesIn([from.common, { error: '', reasons: [] }, splitLinks('https://app.example/')])
  const anywhere = new Set([...always, ...namesIn(samples), 'browser', 'system'])
  return [...files]
    .filter(([file]) => /\.(?:hbs|json)$/.test(file))
    .flatMap(([file, text]) => {
      if (file.endsWith('.json')) return labelFaults(file, text, anywhere).map(templatesFault)
      const given = isLayout(file) ? [...samplesFor(file), layoutValues] : samplesFor(file)
      const values = new Set([...always, ...given.flatMap(namesIn)])
      const allowed = { values, labels: from.labels, layouts: new Set(layoutsFor(file)) }
      const found = inspectTemplate(from.renderer.environmentFor(file), text, allowed)
      return found.map((fault) => templatesFault(place(file, fault)))
    })
}

/** Renders everything once with sample values: finds what only shows when a template is used. */
export function trialFaults(templates: Templates): SettingsFault[] {
  return Object.entries(samples).flatMap(([name, values]) => {
    try {
      if (name.startsWith('mail/')) templates.mail(name.slice('mail/'.length), values)
      else templates.page(name.replace(/^pages\//, ''), values)
      return []
    } catch (error) {
      return [templatesFault(place(name, compileFault(error)))]
    }
  })
}

export function templatesFault(message: string): SettingsFault {
  return { setting: 'templates', message }
}

/** The sample of the mail or page that the file belongs to; of all mails or pages for a layout. */
function samplesFor(file: string): Values[] {
  const kind = file.slice(0, file.indexOf('/') + 1)
  return Object.entries(samples)
    .filter(([name]) => (isLayout(file) ? name.startsWith(kind) : isPartOf(file, name)))
    .map(([, values]) => values)
}

function isPartOf(file: string, name: string): boolean {
  return file === `${name}.hbs` || file.startsWith(`${name}/`)
}

function place(file: string, { line, message }: TemplateFault): string {
  return line === null ? `${file}: ${message}` : `${file}:${line}: ${message}`
}
