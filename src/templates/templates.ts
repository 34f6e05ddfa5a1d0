/** Renders pages and mails: our own templates, with the owner's folder over them. */
export interface Templates {
  /** HTML of `pages/<name>.hbs` inside the layout. */
  page(name: string, values: Readonly<Record<string, unknown>>): string
  /** The three files of `mail/<name>/`. */
  mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string; text: string; html: string }
}
