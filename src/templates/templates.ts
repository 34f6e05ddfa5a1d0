import type { ContentCoding } from '../lib/compressed.js'

/** Renders pages and mails: our own templates, with the owner's folder over them. */
export interface Templates {
  /** Loads what rendering needs. A rendering before that loads it at once, which a bundle cannot. */
  prepare(): Promise<void>
  /**
   * HTML of `pages/<name>.hbs`, or of `admin/<name>.hbs` for the name `admin/<name>`, inside its layout. A value named `error` is a code (of ours or of a query): the page
   * shows our sentence for it, never the code itself; so it is with `reasons`, a list of why a password is weak.
   */
  page(name: string, values: Readonly<Record<string, unknown>>): string
  /** The three files of `mail/<name>/`. The subject is one line. */
  mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string; text: string; html: string }
  /** Every page and mail that a preview can show. */
  names(): readonly TemplateName[]
  /** The languages that have texts, ours and the owner's. */
  locales(): readonly string[]
  /** A page or mail with sample values in that language; null for a name or language that is not listed. */
  sample(kind: string, name: string, locale: string): Sample | null
  /** The asset that pages ask for under `<basePath>/assets/<fileName>`, or null. */
  asset(fileName: string): Asset | null
}

/** A page or a mail. */
export interface TemplateName {
  kind: 'pages' | 'mail'
  name: string
}

/** A template as a preview shows it. A page has no subject and no text. */
export interface Sample {
  html: string
  subject?: string
  text?: string
}

/** A file for browsers. Its name carries a hash of its content, so it may be cached for ever, unless the name is stable. */
export interface Asset {
  /** @example 'latchkey.3f9a0c1b2d4e.css' */
  fileName: string
  contentType: string
  isStable: boolean
  /** The hash of the body. */
  tag: string
  body: string
  /** The body, compressed. It is compressed once, at the first call for that coding. */
  compressed(coding: ContentCoding): Promise<Uint8Array>
}
