import { z } from 'zod'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { orNull, shortText, text } from './field.js'

/** The language of pages and mails (BCP 47). */
export const locale = text('must be a language tag such as en or pt-BR', (value) => {
  // The only check of the platform is this constructor, which throws.
  try {
    return new Intl.Locale(value).toString()
  } catch {
    return null
  }
})

const logoUrl = text('must be an https URL or a path that begins with one slash', (value) => {
  const url = parseHttpUrl(value)
  if (url !== null) return isSecureUrl(url) ? value : null
  return /^\/(?!\/)[\x21-\x5b\x5d-\x7e]{0,1024}$/.test(value) ? value : null
})

/** The colour goes into a style sheet, so only hexadecimal colours are accepted. */
const accentColor = text('must be a colour such as #0a7 or #00aa77', (value) =>
  /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value) ? value : null,
)

export const brand = z.strictObject({
  name: orNull(shortText(64)),
  logoUrl: orNull(logoUrl),
  accentColor: orNull(accentColor),
})
