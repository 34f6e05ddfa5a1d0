import { accountSample, markOf } from './account-sample.js'
import { adminSamples } from './admin-samples.js'
import { developmentSamples } from './development-samples.js'
import type { TemplateName, Templates } from './templates.js'
import type { Values } from './values.js'

/** What pages find in their query, and the values that all of them get. */
const everyPage = {
  token: 'sample',
  done: false,
  again: false,
  error: '',
  at: { field: false, email: false, password: false, code: false },
  reasons: [''],
  wrong: [''],
  redirect: '/inbox',
  carry: '?redirect=%2Finbox',
  minLength: 10,
}

/** An extra field of the application, with every property that one can have. */
const extraField = {
  name: 'company',
  title: 'Company',
  hint: 'As on your invoices.',
  isCheckbox: true,
  isChoice: true,
  type: 'text',
  required: true,
  optional: true,
  checked: true,
  value: 'Acme',
  choices: [{ choice: 'Acme', selected: true }],
  min: '1',
  max: '9',
  step: '1',
  minLength: '1',
  maxLength: '9',
  wrong: true,
  noted: true,
}
const extraFields = { checkboxes: 'company', extraFields: [extraField] }

/** The error stands at that field. */
const atPassword = { ...everyPage.at, field: true, password: true }
const atCode = { ...everyPage.at, field: true, code: true }

/** The device of a notice, and its time. */
const device = {
  device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
  at: '2026-01-31T12:00:00Z',
}

/**
 * The values that each mail and page gets. An application's templates are tried with these at its start and may name nothing
 * else. A preview shows them.
 */
export const samples: Readonly<Record<string, Values>> = Object.freeze({
  'mail/verify': {
    url: 'https://app.example/auth/verify-email?token=sample',
    code: '123456',
    lifetimeHours: '24',
  },
  'mail/otp': {
    name: 'Ada Lovelace',
    url: 'https://app.example/auth/otp?token=sample',
    code: '123456',
    lifetimeMinutes: '10',
  },
  'mail/account-exists': { url: 'https://app.example/auth/login' },
  'mail/refresh-reuse': { ...device },
  'mail/password-reset': {
    name: 'Ada Lovelace',
    url: 'https://app.example/auth/reset?token=sample',
    lifetimeMinutes: '30',
  },
  'mail/invited': { name: 'Ada Lovelace', url: 'https://app.example/auth/reset?token=sample', lifetimeDays: '7' },
  'mail/password-changed': { ...device, passkeys: 'Phone', url: 'https://app.example/auth/account#passkeys' },
  'mail/passkey-added': { name: 'iCloud Keychain', ...device },
  'mail/passkey-removed': { name: 'iCloud Keychain', suspended: '', ...device },
  'mail/email-change': { url: 'https://app.example/auth/email-change?token=sample', lifetimeMinutes: '60' },
  'mail/email-changed': {
    ...device,
    url: 'https://app.example/auth/email-undo?token=sample',
    lifetimeDays: '7',
  },
  'mail/email-restored': { ...device },
  'mail/account-deleted': { waits: 'yes', former: 'yes', ...device },
  'mail/two-factor-changed': {
    turnedOn: 'yes',
    turnedOff: '',
    ...device,
  },
  'mail/identity-changed': {
    provider: 'Google',
    linked: 'yes',
    unlinked: '',
    ...device,
  },
  'mail/new-device': { ...device },
  'mail/more-notices': {
    ...device,
    last: 'A new device signed in to your account at Acme',
    until: '2026-01-31T13:00:00Z',
  },
  'mail/impersonated': { name: 'Grace Hopper', at: device.at, minutes: '12' },
  'pages/login': {
    ...everyPage,
    providers: [
      { path: 'google', provider: 'Google', mark: markOf('google', 'G') },
      { path: 'gitlab', provider: 'GitLab', mark: markOf('gitlab', 'G') },
    ],
    otpEnabled: true,
    otpLinkOnly: false,
    registrationEnabled: true,
    unconfirmed: true,
    mustReset: true,
    passkeys: true,
    upgradeUrl: '/auth/passkeys/new?upgrade=1',
    error: 'invalid_credentials',
    at: atPassword,
  },
  'pages/continue': { ...everyPage, againUrl: '/auth/login?again=1' },
  'pages/register': {
    ...everyPage,
    ...extraFields,
    enabled: true,
    providers: [
      { path: 'google', provider: 'Google', mark: markOf('google', 'G') },
      { path: 'gitlab', provider: 'GitLab', mark: markOf('gitlab', 'G') },
    ],
    passkeys: true,
    passkeyUrl: '/auth/passkeys/new',
    error: 'weak_password',
    at: atPassword,
    reasons: ['too_short', 'common'],
  },
  'pages/verify-email': {
    ...everyPage,
    token: '',
    ownBrowser: false,
    over: true,
    codeDigits: 6,
    registrationEnabled: true,
    mailLimit: '3/900',
    error: 'wrong_code',
    at: atCode,
  },
  'pages/otp': {
    ...everyPage,
    token: '',
    elsewhere: false,
    code: '123456',
    linkOnly: false,
    waiting: true,
    againUrl: '/auth/otp?again=1',
    mailLimit: '3/900',
    error: 'wrong_code',
    at: atCode,
  },
  'pages/oauth-continue': { url: 'https://accounts.google.com/o/oauth2/v2/auth?state=sample', provider: 'Google' },
  'pages/oauth-return': { url: '/auth/oauthcallback/google?state=sample&code=sample&here=1' },
  'pages/register-identity': {
    redirect: '/inbox',
    waiting: true,
    provider: 'Google',
    email: 'ada@app.example',
    signInUrl: '/auth/login',
    error: 'invalid_request',
  },
  'pages/forgot': { ...everyPage, otpEnabled: true, otpLinkOnly: false, error: 'rate_limited' },
  'pages/reset': {
    ...everyPage,
    signInUrl: '/auth/login',
    error: 'weak_password',
    at: atPassword,
    reasons: ['breached'],
  },
  'pages/setup': { ...everyPage, key: 'key', error: 'weak_password', at: atPassword, reasons: ['breached'] },
  'pages/email-change': { ...everyPage, startUrl: '/', error: 'email_taken' },
  'pages/email-undo': { ...everyPage, needsCode: true, error: 'invalid_code', at: atCode },
  'pages/two-factor': {
    ...everyPage,
    codes: true,
    passkeys: true,
    waiting: true,
    signInUrl: '/auth/login',
    error: 'invalid_code',
    at: atCode,
  },
  'pages/passkey-new': {
    error: 'passkey_failed',
    passkeys: true,
    upgrade: true,
    next: '/inbox',
    here: '/auth/passkeys/new?redirect=%2Finbox',
  },
  'pages/account': { ...everyPage, ...extraFields, ...accountSample },
  'pages/two-factor-setup': {
    step: { start: true, scan: true, confirm: true },
    secret: 'ABCD EFGH',
    uri: 'otpauth://totp/sample',
    qrCode: 'data:image/svg+xml;base64,',
    ...everyPage,
    againUrl: '/auth/two-factor/setup?again=1',
    hasPassword: true,
    stale: false,
    required: true,
    passkeys: true,
    hasPasskey: true,
    newPasskeyUrl: '/auth/passkeys/new?redirect=%2Finbox',
    here: '/auth/two-factor/setup?redirect=%2Finbox',
    nextUrl: '/inbox',
    signInAgainUrl: '/auth/login?redirect=%2Fauth%2Ftwo-factor%2Fsetup',
    error: 'invalid_code',
  },
  'pages/backup-codes': { backupCodes: ['ABCDE-FGHJK'], nextUrl: '/auth/account' },
  'pages/signed-out': { ...everyPage, deleted: false, deletedLater: false, signInUrl: '/auth/login', startUrl: '/' },
  'pages/error': { ...everyPage, error: 'internal_error', notFound: false, requestId: 'sample', startUrl: '/' },
  ...developmentSamples,
  ...adminSamples,
})

/** The names of the pages and mails that have samples. Admin pages show themselves. */
export const sampleNames: readonly TemplateName[] = Object.keys(samples).flatMap((file) => {
  const [kind, name = ''] = file.split('/')
  return kind === 'mail' || kind === 'pages' ? [{ kind, name }] : []
})

/** The values that layouts and parts of mails get, besides those of the mail or page in them. */
export const layoutValues: Values = Object.freeze({
  title: 'Sample',
  wide: false,
  heading: '',
  preheader: 'Sample',
  caption: 'Sample',
  section: 'sample',
  action: '/tokens',
  method: '',
  button: 'Sample',
  danger: false,
  quiet: false,
  free: false,
  opens: 'Sample',
  about: 'Sample',
  question: 'Sample',
  hasPasskey: true,
  confirmedUrl: '/auth/account',
  text: 'Sample',
  parts: [{ text: 'Sample', code: true }],
  command: '',
  filter: false,
  refresh: 0,
  none: '',
})

/** Every mail with its sample values, as a user would get it. */
export function sampleMails(
  templates: Pick<Templates, 'mail'>,
): { to: string; subject: string; text: string; html: string }[] {
  const names = Object.keys(samples).filter((name) => name.startsWith('mail/'))
  return names.map((name) => ({
    to: 'ada@app.example',
    ...templates.mail(name.slice('mail/'.length), samples[name] ?? {}),
  }))
}
