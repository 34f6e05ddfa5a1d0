import { errorTable } from '../errors.js'
import { remember } from '../lib/remember.js'
import { builtIn } from './built-in.js'

/** Every text of our pages and mails by name. `{name}` stands for a value of that page or mail. */
export type Labels = Readonly<Record<string, string>>

/** What a language leaves out shows in English. */
export const fallbackFile = 'labels/en.json'

/** Files of labels that are kept parsed. */
const filesKept = 32

/** The texts of a file, frozen, because later calls with this text get them too. @throws {Error} unless it is a JSON object of texts */
export const parseLabels = remember(readLabels, filesKept, (text) => text)

const placeholder = /\{(\w+)\}/g

/** The English texts: what the `labels` setting may replace, one by one, and what a translation has to cover. */
export const defaultLabels: Labels = Object.freeze({
  ...Object.fromEntries(Object.entries(errorTable).map(([code, [, sentence]]) => [`error.${code}`, sentence])),
  ...parseLabels(builtIn[fallbackFile] ?? '{}'),
})

function readLabels(text: string): Labels {
  // Not parseJson: the place of a fault is read from the SyntaxError.
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new TypeError('no object')
  return Object.freeze(Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, requireText(value)])))
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text')
  return value
}

/** The sentence for an error code, whatever the code is: one that we do not know gets the general one. */
export function errorSentence(labels: Labels, code: string): string {
  return ownText(labels, `error.${code}`) ?? ownText(labels, 'error.unknown') ?? ''
}

/** Why a password is weak, each reason as a sentence; one that we do not know says nothing. */
export function reasonSentences(labels: Labels, values: Readonly<Record<string, unknown>>): string[] {
  const reasons = Array.isArray(values.reasons) ? values.reasons : []
  const texts = reasons.map((reason) => ownText(labels, `reason.${reason}`) ?? '')
  return texts.filter((text) => text !== '').map((text) => fillLabel(text, values))
}

/** The text with its `{placeholders}` replaced once: what comes in with a value is never looked at again. */
export function fillLabel(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole
  })
}

/** The names between braces in a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name)
}

function ownText(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}
