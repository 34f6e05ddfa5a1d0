import type { CommandFile } from '../command.js'

/**
 * The name, one sentence without its full stop, and the file. A command of a group has two words and stands below its group:
 * `users`, `users show`.
 */
export type CommandLine = readonly [name: string, summary: string, load: () => Promise<CommandFile>]

// The files of the nouns. Each is loaded when one of its commands is named.
const tokens = () => import('./tokens.js')
const access = () => import('./access.js')
const adminTokens = () => import('./admin-tokens.js')
const audit = () => import('./audit.js')
const backups = () => import('./backups.js')
const indexes = () => import('./indexes.js')
const query = () => import('./query.js')
const rows = () => import('./rows.js')
const environment = () => import('./environment.js')
const mail = () => import('./mail.js')
const owner = () => import('./owner.js')
const project = () => import('./project.js')
const teams = () => import('./teams.js')
const releases = () => import('./releases.js')
const sessions = () => import('./sessions.js')
const installation = () => import('./installation.js')
const signIn = () => import('./sign-in.js')
const spaces = () => import('./spaces.js')
const users = () => import('./users.js')

/** Every command of the tool, one a line, in the order of the help. */
export const commands: readonly CommandLine[] = [
  ['init', 'Add Latchkey to the application in this folder', from(installation, 'init')],
  ['login', 'Sign in to an application', from(signIn, 'login')],
  ['logout', 'Sign out, and forget the saved sign-in', from(signIn, 'logout')],
  ['whoami', 'Print who is signed in', from(signIn, 'whoami')],
  ['create-admin', 'Make an account an administrator', from(owner, 'createAdmin')],
  ['migrate', 'Bring the tables of the database up to date', from(owner, 'migrate')],
  ['serve', 'Run a host of applications', from(owner, 'serve')],
  ['keys', 'Master keys of a space host', from(owner, 'keys')],
  ['keys rotate', 'Change the key that seals the environment of spaces', from(owner, 'rotateKeys')],
  ['info', 'Print what protects the API', from(access, 'info')],
  ['add-token', 'Create an API token', from(tokens, 'addToken')],
  ['tokens', 'List the API tokens', from(tokens, 'tokens')],
  ['remove-token', 'Remove an API token', from(tokens, 'removeToken')],
  ['rotate-token', 'Replace an API token by a new one', from(tokens, 'rotateToken')],
  ['jwks', 'Set, print or remove the JWKS URL', from(access, 'jwks')],
  ['whitelist', 'Allow an IP address, or list those allowed', from(access, 'whitelist')],
  ['whitelist-remove', 'Remove an IP address', from(access, 'whitelistRemove')],
  ['users', 'List the accounts', from(users, 'users')],
  ['users show', 'Print one account', from(users, 'showUser')],
  ['users create', 'Create an account', from(users, 'createUser')],
  ['users disable', 'Disable an account', from(users, 'disableUser')],
  ['users enable', 'Enable an account again', from(users, 'enableUser')],
  ['users delete', 'Delete an account for good', from(users, 'deleteUser')],
  ['users reset-password', 'Require a new password', from(users, 'resetPassword')],
  ['users import', 'Create accounts from a file', from(users, 'importUsers')],
  ['users export', 'Write all accounts with their password hashes to a file', from(users, 'exportUsers')],
  ['users end-sessions', 'End every session of an account', from(users, 'endSessions')],
  ['users remove-two-factor', 'Turn off two-factor authentication', from(users, 'removeTwoFactor')],
  ['sessions', 'List the sessions of all users, or of one', from(sessions, 'sessions')],
  ['sessions end', 'End a session', from(sessions, 'endSession')],
  ['mail', 'List the mail that waits or was set aside', from(mail, 'mail')],
  ['mail retry', 'Send a mail again now', from(mail, 'retryMail')],
  ['mail drop', 'Remove a mail without sending it', from(mail, 'dropMail')],
  ['audit', 'List the audit log', from(audit, 'audit')],
  ['audit verify', 'Check that the audit log was not changed', from(audit, 'auditVerify')],
  ['audit export', 'Write the audit log to a file', from(audit, 'auditExport')],
  ['use', 'Choose the space of this folder', from(spaces, 'use')],
  ['spaces', 'List the spaces of a host', from(spaces, 'spaces')],
  ['create', 'Create a space', from(spaces, 'createSpace')],
  ['take-over', 'End the change of a space that is under way', from(spaces, 'takeOver')],
  ['remove-space', 'Remove a space with its data', from(spaces, 'removeSpace')],
  ['project', 'List the users of the project', from(project, 'project')],
  ['project add', 'Give a person a right on the project', from(project, 'addUser')],
  ['project set', 'Change the right of a user', from(project, 'setUser')],
  ['project remove', 'Take the right of a user away', from(project, 'removeUser')],
  ['teams', 'List the teams', from(teams, 'teams')],
  ['teams create', 'Create a team', from(teams, 'createTeam')],
  ['teams set', 'Change the right or the name of a team', from(teams, 'setTeam')],
  ['teams remove', 'Remove a team', from(teams, 'removeTeam')],
  ['teams add-user', 'Add a person to a team', from(teams, 'addMember')],
  ['teams remove-user', 'Take a person out of a team', from(teams, 'removeMember')],
  ['add-admintoken', 'Create an admin token', from(adminTokens, 'addAdminToken')],
  ['admintokens', 'List the admin tokens', from(adminTokens, 'adminTokens')],
  ['admintokens remove', 'Remove an admin token', from(adminTokens, 'removeFromList')],
  ['remove-admintoken', 'Remove an admin token', from(adminTokens, 'removeAdminToken')],
  ['set-env', 'Set an environment variable of a space', from(environment, 'setEnvironment')],
  ['env', 'List the environment variables of a space', from(environment, 'environment')],
  ['remove-env', 'Remove an environment variable of a space', from(environment, 'removeEnvironment')],
  ['deploy', 'Deploy the application in this folder to a space', from(releases, 'deploy')],
  ['undeploy', 'Take the code of a space away', from(releases, 'undeploy')],
  ['createindex', 'Create an index of a collection', from(indexes, 'createIndex')],
  ['removeindex', 'Remove an index of a collection', from(indexes, 'removeIndex')],
  ['query', 'Print or change objects of a collection', from(query, 'query')],
  ['import', 'Add the rows of a file to a collection', from(rows, 'importRows')],
  ['export', 'Write all objects of a collection', from(rows, 'exportRows')],
  ['backup', 'Write everything of a space to a file', from(backups, 'backup')],
  ['restore', 'Replace the data of a space by that of a backup', from(backups, 'restore')],
  ['log', 'Print what the application of a space logs', from(releases, 'log')],
  ['doctor', 'Check the deployment and print what is wrong', from(installation, 'doctor')],
  ['secret', 'Print two fresh secrets for .env', from(owner, 'secret')],
]

/** One command of a file. */
function from<Name extends string>(load: () => Promise<Record<Name, CommandFile>>, name: Name): CommandLine[2] {
  return async () => (await load())[name]
}
