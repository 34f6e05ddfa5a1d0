/** Groups of operations: the first segments of their paths, a name and a sentence. The reference page shows them in this order. */
const groups: readonly { name: string; description: string; segments: readonly string[] }[] = [
  {
    name: 'Registration',
    description: 'Create an account and confirm its email address.',
    segments: ['register', 'verify-email'],
  },
  {
    name: 'Sign-in',
    description: 'Sign in by password, mailed code or link, and second factor.',
    segments: ['login', 'otp', 'reauthenticate'],
  },
  {
    name: 'Sessions',
    description: 'Refresh tokens, sign out, list and end sessions.',
    segments: ['refresh', 'refreshtoken', 'logout', 'sessions', 'impersonation'],
  },
  { name: 'Account', description: 'Read, change and delete the account of the signed-in user.', segments: ['me'] },
  { name: 'Password', description: 'Reset a forgotten password and change a known one.', segments: ['password'] },
  { name: 'Email', description: 'Change the email address, and undo a change.', segments: ['email'] },
  {
    name: 'Two-factor',
    description: 'Turn two-factor authentication on and off, and replace backup codes.',
    segments: ['two-factor'],
  },
  {
    name: 'Passkeys',
    description: 'Sign in with a passkey, and add, list, name and remove passkeys.',
    segments: ['passkeys'],
  },
  {
    name: 'OAuth',
    description: 'Sign in with a provider, link and unlink its logins.',
    segments: ['oauth', 'oauthcallback', 'identities'],
  },
  { name: 'Reference', description: 'This document.', segments: ['openapi.json'] },
]

/** The groups of the control API: the segment below `/admin/api`. */
const controlGroups: typeof groups = [
  { name: 'Home', description: 'What runs here, its settings and its health.', segments: ['', 'health', 'settings'] },
  { name: 'Tool sign-in', description: 'Sign the command-line tool in.', segments: ['device'] },
  { name: 'API tokens', description: 'Create, list, rotate and remove API tokens.', segments: ['tokens'] },
  { name: 'Access', description: 'The IP allow-list, and the key set of another issuer.', segments: ['access'] },
  { name: 'Users', description: 'Administer accounts.', segments: ['users'] },
  {
    name: 'Project',
    description: 'Who may administer the project, and by which teams.',
    segments: ['project', 'teams'],
  },
  { name: 'Admin tokens', description: 'Make, list and remove admin tokens.', segments: ['admintokens'] },
  { name: 'Spaces', description: 'The spaces of the project.', segments: ['spaces'] },
  { name: 'All sessions', description: 'List and end the sessions of all users.', segments: ['sessions'] },
  { name: 'Audit', description: 'Read, export and verify the audit log.', segments: ['audit', 'audit.jsonl'] },
  { name: 'Mail', description: 'The mail queue, and previews of pages and mails.', segments: ['mail', 'templates'] },
  { name: 'Diagnosis', description: 'Findings with cause and cure.', segments: ['doctor'] },
  { name: 'Control reference', description: 'This document.', segments: ['openapi.json'] },
]

/** For `tags` of the document: the groups that have an operation. */
export function tagsOf(paths: readonly string[]): { name: string; description: string }[] {
  const used = new Set(paths.map(tagOf))
  return [...groups, ...controlGroups]
    .filter(({ name }) => used.has(name))
    .map(({ name, description }) => ({ name, description }))
}

/**
 * The name of the group of a path.
 *
 * @throws {Error} when no group has the first segment of the path
 * @example tagOf('/login/two-factor') // 'Sign-in'
 */
export function tagOf(path: string): string {
  const [, first = '', second, third = ''] = path.split('/')
  const control = first === 'admin' && second === 'api'
  const segment = control ? third : first
  const group = (control ? controlGroups : groups).find(({ segments }) => segments.includes(segment))
  if (group === undefined) throw new Error(`No group of http/openapi/tags.ts has ${path}.`)
  return group.name
}
