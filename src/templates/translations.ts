import { defaultLabels, fallbackFile, type Labels, parseLabels, placeholdersIn } from './labels.js'

/** Text of a file of labels by its name below the templates. */
export type LabelFiles = Readonly<Record<string, string>>

/** The texts of a language, and what is to be said about them. */
export interface Translation {
  labels: Labels
  /** Names that show in English, because the language has no text for them. Admin pages may be in English. */
  missing: readonly string[]
}

/** Norwegian is written in two ways; our file is Bokmål, and Nynorsk readers are closer to it than to English. */
const macrolanguages: Readonly<Record<string, string>> = Object.freeze({ nb: 'no', nn: 'no' })

/**
 * The texts for a locale: the owner's over ours over the English ones. `pt-BR` reads `labels/pt.json` and over it
 * `labels/pt-BR.json`, so that either may hold a few texts only.
 *
 * @example labelsFor('de-AT', { ours: builtIn, owner: {} }).labels['forgotPage.button'] // 'Link senden'
 */
export function labelsFor(locale: string, { ours, owner }: { ours: LabelFiles; owner: LabelFiles }): Translation {
  const files = tagsOf(locale).map((tag) => `labels/${tag}.json`)
  const given = mergeAll([ours, owner].flatMap((source) => files.map((file) => readable(source, file))))
  const english = { ...defaultLabels, ...readable(owner, fallbackFile) }
  const missing = files.includes(fallbackFile)
    ? []
    : Object.keys(defaultLabels).filter((name) => !Object.hasOwn(given, name) && !name.startsWith('admin.'))
  return { labels: { ...english, ...given }, missing }
}

/** What is wrong with a file of labels, with the line where that can be told. */
export function labelFaults(file: string, text: string, values: ReadonlySet<string>): string[] {
  try {
    return Object.entries(parseLabels(text)).flatMap(([name, label]) => {
      const place = `${file}${lineSuffix(text.indexOf(JSON.stringify(name)), text)}`
      if (!Object.hasOwn(defaultLabels, name)) return [`${place}: there is no label ${name}`]
      const unknown = placeholdersIn(label).filter((placeholder) => !values.has(placeholder))
      return unknown.map((placeholder) => `${place}: there is no value ${placeholder} anywhere`)
    })
  } catch (error) {
    return [`${file}${lineSuffix(positionOf(error, text), text)}: must be a JSON object of texts`]
  }
}

/** Whether a file of labels has the name that a locale is looked up by: `labels/pt-BR.json`, not `labels/pt-br.json`. */
export function isLabelFile(file: string): boolean {
  const [, tag] = /^labels\/([A-Za-z\d-]+)\.json$/.exec(file) ?? []
  try {
    return tag !== undefined && Intl.getCanonicalLocales(tag)[0] === tag
  } catch {
    return false
  }
}

/** The languages of these files of labels, and the locale of the settings, sorted. */
export function localesOf(files: readonly string[], locale: string): string[] {
  const tags = files.filter(isLabelFile).map((file) => file.slice('labels/'.length, -'.json'.length))
  return [...new Set([...tags, locale])].sort()
}

/** From the language to the whole tag: `zh`, `zh-Hant`, `zh-Hant-TW`. */
function tagsOf(locale: string): string[] {
  const parts = locale.split('-')
  const tags = parts.map((_, index) => parts.slice(0, index + 1).join('-'))
  const macrolanguage = macrolanguages[parts[0] ?? '']
  return macrolanguage === undefined ? tags : [macrolanguage, ...tags]
}

/** A file that is no labels is a fault of its own; here it has none. */
function readable(source: LabelFiles, file: string): Labels {
  try {
    return Object.hasOwn(source, file) ? parseLabels(source[file] ?? '') : {}
  } catch {
    return {}
  }
}

function mergeAll(all: readonly Labels[]): Labels {
  return Object.fromEntries(all.flatMap((labels) => Object.entries(labels)))
}

/** Where the parser stopped; -1 when it does not say. */
function positionOf(error: unknown, text: string): number {
  const message = error instanceof SyntaxError ? error.message : ''
  if (message.includes('end of JSON')) return text.length
  return Number(/at position (\d+)/.exec(message)?.[1] ?? -1)
}

function lineSuffix(position: number, text: string): string {
  return position < 0 ? '' : `:${text.slice(0, position).split('\n').length}`
}
