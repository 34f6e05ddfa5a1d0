import { isObject, parseJson } from '../../lib/json-object.js'
import { maskCode } from './code/masked-code.js'

/** Reads a JSON object that may contain comments and trailing commas, such as tsconfig.json. Null when the text is not an object. */
export function parseJsonWithComments(text: string): Readonly<Record<string, unknown>> | null {
  const source = text.replace(/^\uFEFF/, '')
  const masked = maskCode(source)
  let inString = false
  const kept = [...masked].map((character, at) => {
    if (character === '"') inString = !inString
    else if (inString) return source.charAt(at)
    return character
  })
  const value = parseJson(withoutTrailingCommas(kept.join(''), masked))
  return isObject(value) ? value : null
}

function withoutTrailingCommas(json: string, masked: string): string {
  const commas = [...masked.matchAll(/,(?=\s*[}\]])/g)].map(({ index }) => index)
  return commas.reduceRight((text, at) => `${text.slice(0, at)} ${text.slice(at + 1)}`, json)
}
