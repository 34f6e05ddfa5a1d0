import type { Templates } from './templates.js'
import type { Values } from './values.js'

/**
 * What each mail and page is given. An owner's templates are tried with these when the application starts, and may
 * name nothing else; a preview shows them.
 */
export const samples: Readonly<Record<string, Values>> = Object.freeze({
  'mail/verify': {
    name: 'Ada Lovelace',
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
  'pages/verify-email': {
    redirect: '/inbox',
    token: 'sample',
    email: 'ada@app.example',
    needsPassword: true,
    error: 'invalid_credentials',
  },
  'pages/otp': { redirect: '/inbox', token: 'sample', waiting: true, error: 'invalid_token' },
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
  'pages/forgot': { done: false, error: 'rate_limited' },
  'pages/reset': { token: 'sample', minLength: 10, signInUrl: '/auth/login', done: false, error: 'weak_password' },
  'pages/email-change': { token: 'sample', done: false, error: 'email_taken' },
  'pages/email-undo': { token: 'sample', needsCode: true, done: false, error: 'invalid_code' },
  'pages/two-factor': { redirect: '/inbox', waiting: true, signInUrl: '/auth/login', error: 'invalid_code' },
  'pages/error': { error: 'internal_error', requestId: 'sample' },
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
