import { SettingsError } from '../errors.js'
import { oneLine } from '../lib/one-line.js'
import type { Settings } from '../settings.js'
import { addedStylesheet, banner, icon, readableOn, script, stylesheet } from './assets.js'
import { builtIn } from './built-in.js'
import { optionFaults, ownerFaults, templatesFault, trialFaults } from './check.js'
import { readOwnerFolder } from './folder.js'
import { errorSentence, reasonSentences } from './labels.js'
import { createRenderer } from './renderer.js'
import { sampleNames, samples } from './samples.js'
import type { Templates } from './templates.js'
import { isLabelFile, labelsFor, localesOf } from './translations.js'
import { mailValues, plainValues } from './values.js'

/**
 * `templates` is the owner's folder: a file in it replaces ours of the same name. `labels` replace our texts, by the
 * names in `templates/labels/en.json`. `urlPath` and `basePath` are what links on pages begin with, unless a page gets its own;
 * `origin` is where a mail finds a logo whose address is a path.
 */
export type TemplateOptions = Pick<
  Settings,
  'templates' | 'brand' | 'labels' | 'locale' | 'origin' | 'urlPath' | 'basePath'
>

const defaultAccentColor = '#3450d8'
const cssFile = 'assets/latchkey.css'
const scriptFile = 'assets/latchkey.js'
const adminCssFile = 'assets/admin.css'
const adminScriptFile = 'assets/admin.js'
const developmentCssFile = 'assets/development.css'
const passkeyScriptFile = 'assets/passkeys.js'
const bannerFile = 'assets/impersonation.js'
/** An error that stands at no field is an alert. */
const noField = { field: false, email: false, password: false, code: false }
const rightToLeft = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])

/**
 * Our templates with the owner's folder over them. Handlebars is loaded at the first page or mail; with a folder at
 * once, since the owner's files are checked here: an application with a broken template does not start.
 *
 * @param onMissing told once which texts show in English, because the language has none for them
 * @throws {SettingsError} naming every file and line that is wrong
 * @example
 * const templates = createTemplates(settings)
 * templates.page('error', { error: 'not_found', requestId })
 */
export function createTemplates(options: TemplateOptions, onMissing?: (names: readonly string[]) => void): Templates {
  const owner = options.templates === null ? null : readOwnerFolder(options.templates, isOurs)
  const source = (file: string) => owner?.files.get(file) ?? builtIn[file]
  const translation = labelsFor(options.locale, { ours: builtIn, owner: Object.fromEntries(owner?.files ?? []) })
  const labels = { ...translation.labels, ...options.labels }
  const values = commonValues(options)
  const css = stylesheet(source(cssFile) ?? '', values.brand)
  const js = script(source(scriptFile) ?? '')
  const adminCss = addedStylesheet(source(adminCssFile) ?? '', 'admin')
  const adminJs = script(source(adminScriptFile) ?? '', 'admin')
  const developmentCss = addedStylesheet(source(developmentCssFile) ?? '', 'development')
  const passkeyJs = script(source(passkeyScriptFile) ?? '', 'passkeys')
  const tile = icon(values.initial, values.brand)
  const acting = banner(source(bannerFile) ?? '', labels)
  const assets = [css, js, tile, adminCss, adminJs, developmentCss, passkeyJs, acting]
  const common = {
    ...values,
    stylesheet: css.fileName,
    script: js.fileName,
    icon: tile.fileName,
    adminStylesheet: adminCss.fileName,
    adminScript: adminJs.fileName,
    developmentStylesheet: developmentCss.fileName,
    passkeyScript: passkeyJs.fileName,
    passkeys: false,
    acting: false,
    actingAs: '',
  }
  const mailBrand = { ...values.brand, logoUrl: absolute(options.brand.logoUrl, options.origin) }
  const renderer = createRenderer(source, labels)

  const templates: Templates = {
    prepare: renderer.prepare,
    page(name, given) {
      const code = typeof given.error === 'string' ? given.error : ''
      const error = code && errorSentence(labels, code)
      const reasons = reasonSentences(labels, given)
      const file = name.startsWith('admin/') ? `${name}.hbs` : `pages/${name}.hbs`
      return renderer.render(file, { ...common, at: noField, ...plainValues(given), error, reasons })
    },
    mail(name, given) {
      const all = { ...common, brand: mailBrand, lifetimeHours: null, ...mailValues(given, { ...options, labels }) }
      const part = (file: string) => renderer.render(`mail/${name}/${file}.hbs`, all)
      return { subject: oneLine(part('subject.txt')), text: part('body.txt'), html: part('body.html') }
    },
    ...previewsOf(options, owner?.files),
    asset: (fileName) => assets.find((asset) => asset.fileName === fileName) ?? null,
  }

  const faults = optionFaults(options)
  if (owner) {
    faults.push(...owner.faults.map(templatesFault), ...ownerFaults(owner.files, { renderer, labels, common }))
    if (faults.length === 0) faults.push(...trialFaults(templates))
  }
  if (faults.length > 0) throw new SettingsError(faults)
  const missing = translation.missing.filter((name) => !Object.hasOwn(options.labels, name))
  if (missing.length > 0) onMissing?.(missing)
  return templates
}

/** Previews of every page and mail. Templates of another language are made when they are first shown. */
function previewsOf(
  options: TemplateOptions,
  files: ReadonlyMap<string, string> = new Map(),
): Pick<Templates, 'names' | 'locales' | 'sample'> {
  const known = new Map<string, Templates>()
  const locales = localesOf([...Object.keys(builtIn), ...files.keys()], options.locale)
  const inLocale = (locale: string): Templates => {
    const templates = known.get(locale) ?? createTemplates({ ...options, locale })
    known.set(locale, templates)
    return templates
  }
  return {
    names: () => sampleNames,
    locales: () => locales,
    sample(kind, name, locale) {
      const found = sampleNames.find((known) => known.kind === kind && known.name === name)
      if (!found || !locales.includes(locale)) return null
      const values = samples[`${kind}/${name}`] ?? {}
      const templates = inLocale(locale)
      return found.kind === 'mail'
        ? templates.mail(name, values)
        : { html: templates.page(name, { ...values, script: '' }) }
    },
  }
}

/** A language that we do not have is the owner's to add. */
function isOurs(file: string): boolean {
  return Object.hasOwn(builtIn, file) || isLabelFile(file)
}

/** A mail stands on no site, so a path means nothing there. */
function absolute(logoUrl: string | null, origin: string): string | null {
  return logoUrl?.startsWith('/') ? `${origin}${logoUrl}` : logoUrl
}

/** What every page and mail may name. */
function commonValues({ brand, locale, urlPath, basePath }: TemplateOptions) {
  const accentColor = brand.accentColor ?? defaultAccentColor
  const language = locale.toLowerCase().split('-')[0] ?? ''
  return {
    brand: { ...brand, accentColor, onAccentColor: readableOn(accentColor) ?? '#ffffff' },
    productName: brand.name,
    initial: [...brand.name.trim()].find((character) => /[\p{L}\p{N}]/u.test(character))?.toUpperCase() ?? '',
    lang: locale,
    dir: rightToLeft.has(language) ? 'rtl' : 'ltr',
    basePath: `${urlPath}${basePath}`,
  }
}
