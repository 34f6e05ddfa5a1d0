export const sampleTime = '2026-01-31T12:00:00.000Z'
export const pager = { first: '/auth/admin/users', next: '/auth/admin/users?cursor=sample' }

/** What every admin page gets. */
export const everyAdminPage = {
  error: 'invalid_request',
  reasons: [''],
  adminPath: '/auth/admin',
  placePath: '/auth/admin/spaces/dev',
  apiPath: '/auth/admin/api',
  readOnly: false,
  formsOff: false,
  space: 'dev',
  spaceNavigation: [{ href: '/auth/admin/spaces/dev', text: 'admin.nav.space', current: true }],
  me: 'ada@app.example',
  pageName: 'admin.nav.tokens',
  navigation: [{ href: '/auth/admin', text: 'admin.nav.overview', current: true }],
  search: 'ada',
  startUrl: '/',
  outcomes: { sample: { error: 'invalid_request', wrong: 'admin.wrong.name', done: 'admin.done.token_removed' } },
  stale: true,
  passkeys: true,
  hasPasskey: true,
  confirmedUrl: '/auth/admin',
  signInAgainUrl: '/auth/login?redirect=%2Fauth%2Fadmin',
}
