import type { Values } from './values.js'

const at = '2026-01-31T12:00:00.000Z'
const pager = { first: '/auth/admin/users', next: '/auth/admin/users?cursor=sample' }

/** What every admin page gets. */
const everyAdminPage = {
  error: 'invalid_request',
  reasons: [''],
  adminPath: '/auth/admin',
  apiPath: '/auth/admin/api',
  me: 'ada@app.example',
  pageName: 'admin.nav.tokens',
  navigation: [{ href: '/auth/admin', text: 'admin.nav.overview', current: true }],
  search: 'ada',
  startUrl: '/',
  outcomes: { sample: { error: 'invalid_request', wrong: 'admin.wrong.name', done: 'admin.done.token_removed' } },
  stale: true,
  signInAgainUrl: '/auth/login?redirect=%2Fauth%2Fadmin',
}

const event = {
  at,
  event: 'login',
  ok: true,
  userId: 'sample',
  about: 'sample',
  ip: '192.0.2.7',
  actor: 'sample',
  actorText: 'admin.actor.system',
  detail: 'method: password',
}
const session = {
  id: 'sample',
  userId: 'sample',
  email: 'ada@app.example',
  device: 'Firefox on Linux',
  ip: '192.0.2.7',
  createdAt: at,
  lastSeenAt: at,
  own: true,
}
const choice = { value: 'active', text: 'admin.state.active', selected: true }
const marked = [
  { text: 'Run ', code: false },
  { text: 'latchkey migrate', code: true },
]
const keySet = {
  ok: true,
  keys: [{ kid: 'key-1', alg: 'RS256', use: 'sig' }],
  fetchedAt: at,
  fault: null,
  faultText: 'admin.jwks.fault.unreachable',
}
const account = {
  id: 'sample',
  email: 'ada@app.example',
  emailVerified: false,
  name: 'Ada Lovelace',
  roles: ['EDITOR'],
  twoFactor: true,
  createdAt: at,
  lastLoginAt: at,
  disabled: false,
  stateText: 'admin.state.active',
  tone: 'on',
}

/** The values of the admin pages. */
export const adminSamples: Readonly<Record<string, Values>> = {
  'admin/sign-in-again': everyAdminPage,
  'admin/overview': {
    ...everyAdminPage,
    accounts: '12',
    liveSessions: '3',
    waiting: '0',
    setAside: 1,
    findings: { count: '1', good: true },
    healthy: true,
    health: {
      text: 'admin.health.ok',
      rows: [{ text: 'admin.health.store', ok: true, value: '2 ms', missing: 'admin.health.none' }],
    },
    events: [event],
  },
  'admin/tokens': {
    ...everyAdminPage,
    pager,
    kept: { name: '', readWrite: true, expiresAt: '', cidrs: '', more: true },
    items: [
      {
        id: 'sample',
        name: 'report',
        access: 'READ',
        networks: '203.0.113.0/24',
        createdAt: at,
        expiresAt: at,
        lastUsedAt: at,
        replacedBy: 'sample',
        writes: true,
        over: true,
        action: '/tokens/sample',
        rotate: '/tokens/sample/rotate',
      },
    ],
  },
  'admin/secret-page': {
    ...everyAdminPage,
    name: 'report',
    access: 'READ',
    secret: 'sample',
    example: 'https://app.example/api',
  },
  'admin/jwks': {
    ...everyAdminPage,
    jwksUrl: 'https://issuer.example/keys',
    fixedJwksUrl: 'https://issuer.example/keys',
    changed: true,
    keySet,
    keys: keySet.keys,
    checked: { ...keySet, url: 'https://issuer.example/keys' },
    kept: '',
    shapes: [{ provider: 'Auth0', url: 'https://<TENANT_HOST>/.well-known/jwks.json' }],
  },
  'admin/access': {
    ...everyAdminPage,
    ip: '192.0.2.7',
    open: true,
    isAllowed: true,
    addable: true,
    fixed: ['192.0.2.0/24'],
    added: [{ network: '192.0.2.7', index: 0, isLast: true, excludesOwn: true, question: 'admin.access.lastHow' }],
    kept: '',
  },
  'admin/users': { ...everyAdminPage, pager, items: [account], role: '', states: [choice] },
  'admin/user': {
    ...everyAdminPage,
    ...account,
    disabledReason: 'Asked for it',
    disabledUntil: at,
    storedRoles: 'EDITOR',
    identities: [{ provider: 'google' }],
    sessions: [session],
    events: [event],
    userAction: '/users/sample',
    sessionsAction: '/users/sample/sessions',
    factorAction: '/users/sample/two-factor',
    enableAction: '/users/sample/enable',
    disableAction: '/users/sample/disable',
    resetAction: '/users/sample/reset-password',
    verifyAction: '/users/sample/verification',
    actable: true,
    impersonateAction: '/users/sample/impersonate',
  },
  'admin/sessions': { ...everyAdminPage, pager, items: [session] },
  'admin/mail': {
    ...everyAdminPage,
    pager,
    states: [choice],
    items: [
      {
        id: 'sample',
        template: 'otp',
        domain: 'app.example',
        aside: true,
        stateText: 'admin.mail.waiting',
        attempts: 2,
        nextAt: at,
        lastReason: '450',
        action: '/mail/sample',
      },
    ],
  },
  'admin/audit': {
    ...everyAdminPage,
    pager,
    filter: { event: '', userId: '', actor: '', from: '', to: '' },
    wrongFilter: 'admin.wrong.filter',
    events: [event],
    verdict: { ok: true, brokenAt: 'sample' },
    refreshSeconds: 10,
    verifiedAt: at,
    verifiedOk: true,
    exportUrl: '/auth/admin/api/audit.jsonl',
  },
  'admin/settings': { ...everyAdminPage, settings: [{ name: 'basePath', value: '/auth' }] },
  'admin/doctor': {
    ...everyAdminPage,
    checkedAt: at,
    findings: [
      {
        code: 'mail_spf',
        severe: true,
        levelText: 'admin.doctor.warn',
        finding: marked,
        cause: marked,
        cure: marked,
      },
    ],
    skipped: [{ code: 'mail_dkim', reason: marked }],
    passed: ['node_version'],
  },
  'admin/templates': {
    ...everyAdminPage,
    names: [choice],
    locales: [choice],
    shown: { name: 'mail/otp', subject: 'Sample', text: 'Sample', html: '<p>Sample</p>' },
  },
  'admin/device': {
    ...everyAdminPage,
    userCode: 'QX7K-M2FD',
    found: { client: 'laptop', ip: '192.0.2.7', userAgent: 'latchkey/1.0', askedAt: at, sameNetwork: true },
  },
}
