/** Renders pages and mails: our own templates, with the owner's folder over them. */
export interface Templates {
  /** Loads what rendering needs. A rendering before that loads it at once, which a bundle cannot. */
  prepare(): Promise<void>
  /**
   * HTML of `pages/<name>.hbs` inside the layout. A value named `error` is a code (of ours or of a query): the page
   * shows our sentence for it, never the code itself; so it is with `reasons`, a list of why a password is weak.
   */
  page(name: string, values: Readonly<Record<string, unknown>>): string
  /** The three files of `mail/<name>/`. The subject is one line. */
  mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string; text: string; html: string }
  /** The asset that pages ask for under `<basePath>/assets/<fileName>`, or null. */
  asset(fileName: string): Asset | null
}

/** A file for browsers. Its name carries a hash of its content, so it may be cached for ever. */
export interface Asset {
  /** @example 'latchkey.3f9a0c1b2d4e.css' */
  fileName: string
  contentType: string
  body: string
}
