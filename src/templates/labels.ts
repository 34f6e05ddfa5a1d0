import { errorTable } from '../errors.js'
import { builtIn } from './built-in.js'

/** Every text of our pages and mails by name. `{name}` stands for a value of that page or mail. */
export type Labels = Readonly<Record<string, string>>

/** What a language leaves out shows in English. */
const fallbackFile = 'labels/en.json'

/** The English texts: what the `labels` setting may replace, one by one, and what a translation has to cover. */
export const defaultLabels: Labels = Object.freeze({
  ...Object.fromEntries(Object.entries(errorTable).map(([code, [, sentence]]) => [`error.${code}`, sentence])),
  ...parseLabels(builtIn[fallbackFile] ?? '{}'),
})

/** The texts of a language, and what is to be said about them. */
export interface Translation {
  labels: Labels
  /** Names that show in English, because the language has no text for them. */
  missing: readonly string[]
  faults: readonly string[]
}

/**
 * The texts for a locale: of `labels/pt-BR.json`, else of `labels/pt.json`, over the English ones.
 *
 * @param source the text of a file: the owner's, else ours
 * @example labelsFor('de-AT', source).labels['loginPage.title'] // 'Anmelden'
 */
export function labelsFor(locale: string, source: (file: string) => string | undefined): Translation {
  const files = [...new Set([`labels/${locale}.json`, `labels/${locale.split('-')[0]}.json`])]
  const file = files.find((name) => source(name) !== undefined)
  if (file === undefined) return { labels: defaultLabels, missing: Object.keys(defaultLabels), faults: [] }
  try {
    const given = parseLabels(source(file) ?? '')
    const unknown = Object.keys(given).filter((name) => !Object.hasOwn(defaultLabels, name))
    const missing =
      file === fallbackFile ? [] : Object.keys(defaultLabels).filter((name) => !Object.hasOwn(given, name))
    return {
      labels: { ...defaultLabels, ...given },
      missing,
      faults: unknown.map((name) => `${file}: there is no label ${name}`),
    }
  } catch {
    return { labels: defaultLabels, missing: [], faults: [`${file}: must be a JSON object of texts`] }
  }
}

/** @throws {Error} unless it is a JSON object of texts */
function parseLabels(text: string): Labels {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new TypeError('no object')
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, requireText(value)]))
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text')
  return value
}

/** The sentence for an error code, whatever the code is: one that we do not know gets the general one. */
export function errorSentence(labels: Labels, code: string): string {
  return ownText(labels, `error.${code}`) ?? ownText(labels, 'error.unknown') ?? ''
}

/** The text with its `{placeholders}` replaced once: what comes in with a value is never looked at again. */
export function fillLabel(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === 'string' || typeof value === 'number' ? String(value) : placeholder
  })
}

function ownText(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}
