import type { Templates } from './templates.js'
import type { Values } from './values.js'

/** What pages find in their address, and what all of them are given. */
const everyPage = {
  token: 'sample',
  done: false,
  again: false,
  error: '',
  reasons: [''],
  redirect: '/inbox',
  carry: '?redirect=%2Finbox',
  minLength: 10,
}

/** What the reference page tells of a field and of several. */
const field = { name: 'email', type: 'string', optional: true, about: 'As typed.' }
const shape = { fields: [field], open: false, other: false, see: '' }

/**
 * What each mail and page is given. An owner's templates are tried with these when the application starts, and may
 * name nothing else; a preview shows them.
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
  'mail/refresh-reuse': {
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'mail/password-reset': {
    name: 'Ada Lovelace',
    url: 'https://app.example/auth/reset?token=sample',
    lifetimeMinutes: '30',
  },
  'mail/password-changed': {
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'mail/email-change': { url: 'https://app.example/auth/email-change?token=sample', lifetimeMinutes: '60' },
  'mail/email-changed': {
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
    url: 'https://app.example/auth/email-undo?token=sample',
    lifetimeDays: '7',
  },
  'mail/email-restored': {
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'mail/two-factor-changed': {
    turnedOn: 'yes',
    turnedOff: '',
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'mail/identity-changed': {
    provider: 'Google',
    linked: 'yes',
    unlinked: '',
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'mail/new-device': {
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
    at: '2026-01-31T12:00:00Z',
  },
  'pages/login': {
    ...everyPage,
    providers: [{ path: 'google', provider: 'Google' }],
    otpEnabled: true,
    registrationEnabled: true,
    error: 'invalid_credentials',
  },
  'pages/continue': { ...everyPage, againUrl: '/auth/login?again=1' },
  'pages/register': {
    ...everyPage,
    enabled: true,
    providers: [{ path: 'google', provider: 'Google' }],
    error: 'weak_password',
    reasons: ['too_short', 'common'],
  },
  'pages/verify-email': { ...everyPage, token: '', ownBrowser: false, error: 'invalid_token' },
  'pages/otp': { ...everyPage, token: '', waiting: true, againUrl: '/auth/otp?again=1', error: 'invalid_token' },
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
  'pages/forgot': { ...everyPage, error: 'rate_limited' },
  'pages/reset': { ...everyPage, signInUrl: '/auth/login', error: 'weak_password', reasons: ['breached'] },
  'pages/email-change': { ...everyPage, startUrl: '/', error: 'email_taken' },
  'pages/email-undo': { ...everyPage, needsCode: true, error: 'invalid_code' },
  'pages/two-factor': { ...everyPage, waiting: true, signInUrl: '/auth/login', error: 'invalid_code' },
  'pages/account': {
    ...everyPage,
    email: 'ada@app.example',
    emailVerified: false,
    name: 'Ada Lovelace',
    hasPassword: true,
    stale: false,
    isRecent: true,
    linkAsks: true,
    required: true,
    twoFactorSince: '2026-01-31T12:00:00.000Z',
    signInAgainUrl: '/auth/login?redirect=%2Fauth%2Faccount',
    startUrl: '/',
    hasProviders: true,
    linking: { name: 'github', title: 'GitHub' },
    linked: [{ name: 'google', title: 'Google', linkedAt: '2026-01-31T12:00:00.000Z', removable: true }],
    linkable: [{ name: 'github', title: 'GitHub' }],
    sessions: [
      {
        id: 'sample',
        device: 'Firefox on Linux',
        network: '192.0.2.0/24',
        lastSeenAt: '2026-01-31T12:00:00.000Z',
        current: true,
      },
    ],
    hasOtherSessions: true,
    unplaced: true,
    failed: {
      profile: true,
      email: true,
      password: true,
      'two-factor': true,
      identities: true,
      sessions: true,
      delete: true,
    },
    done: {
      profile_changed: true,
      confirmation_sent: true,
      password_changed: true,
      two_factor_disabled: true,
      identity_linked: true,
      identity_removed: true,
      session_revoked: true,
      sessions_revoked: true,
    },
    error: 'invalid_request',
  },
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
    signInAgainUrl: '/auth/login?redirect=%2Fauth%2Ftwo-factor%2Fsetup',
    error: 'invalid_code',
  },
  'pages/backup-codes': { backupCodes: ['ABCDE-FGHJK'], nextUrl: '/auth/account' },
  'pages/signed-out': { ...everyPage, signInUrl: '/auth/login' },
  'pages/error': { ...everyPage, error: 'internal_error', requestId: 'sample', startUrl: '/' },
  'pages/reference': {
    documentUrl: '/auth/openapi.json',
    operations: [
      {
        id: 'postLogin',
        method: 'POST',
        path: '/auth/login',
        summary: 'Signs in.',
        description: 'The same as another.',
        signedIn: true,
        parameters: [{ ...field, place: 'header' }],
        body: [{ ...shape, open: true }],
        answers: [
          { status: '200', about: 'Done.', shapes: [shape, { ...shape, fields: [], other: true, see: 'User' }] },
        ],
        refusals: [{ status: '401', codes: ['invalid_credentials', 'token_expired'] }],
      },
    ],
    schemas: [{ name: 'User', about: 'An account.', shapes: [shape] }],
  },
  'pages/mailbox': {
    samples: false,
    address: '/auth/dev/mailbox?key=sample',
    mails: [
      {
        to: 'ada@app.example',
        subject: 'Sample',
        at: '2026-01-31T12:00:00.000Z',
        time: 'Jan 31, 2026, 12:00:00 PM',
        text: 'Open https://app.example/ or enter\n\n123456\n',
        html: '<p>See above</p>',
      },
    ],
  },
})

/** What layouts and parts of mails are given beside the values of the mail or page in them. */
export const layoutValues: Values = Object.freeze({
  title: 'Sample',
  wide: false,
  preheader: 'Sample',
  caption: 'Sample',
})

/** Every mail with its sample values, as somebody would get it. */
export function sampleMails(
  templates: Pick<Templates, 'mail'>,
): { to: string; subject: string; text: string; html: string }[] {
  const names = Object.keys(samples).filter((name) => name.startsWith('mail/'))
  return names.map((name) => ({
    to: 'ada@app.example',
    ...templates.mail(name.slice('mail/'.length), samples[name] ?? {}),
  }))
}
