import type { Command } from 'commander'
import type { Tool } from '../tool.js'

/**
 * The file of a command. `define` declares arguments, options and action. The action calls `open` and uses the tool; it returns for
 * exit code 0 and throws a `ToolError` for any other.
 */
export interface CommandFile {
  /** A command line for the help. */
  example: string
  define(command: Command, open: () => Tool): void
}

/**
 * The name, one sentence without its full stop, and the file. A command of a group has two words and stands below its group:
 * `users`, `users show`.
 */
export type CommandLine = readonly [name: string, summary: string, load: () => Promise<CommandFile>]

/** Every command of the tool, one a line, in the order of the help. */
export const commands: readonly CommandLine[] = [
  ['init', 'Add Latchkey to the application in this folder', () => import('./init.js')],
  ['login', 'Sign in to an application', () => import('./sign-in/login.js')],
  ['logout', 'Sign out, and forget the saved sign-in', () => import('./sign-in/logout.js')],
  ['whoami', 'Print who is signed in', () => import('./sign-in/whoami.js')],
  ['create-admin', 'Make an account an administrator', () => import('./owner/create-admin.js')],
  ['migrate', 'Bring the tables of the database up to date', () => import('./owner/migrate.js')],
  ['serve', 'Run a host of applications', () => import('./owner/serve.js')],
  ['keys', 'Master keys of a space host', () => import('./keys/group.js')],
  ['keys rotate', 'Change the key that seals the environment of spaces', () => import('./keys/rotate.js')],
  ['info', 'Print what protects the API', () => import('./access/overview.js')],
  ['add-token', 'Create an API token', () => import('./tokens/add.js')],
  ['tokens', 'List the API tokens', () => import('./tokens/list.js')],
  ['remove-token', 'Remove an API token', () => import('./tokens/remove.js')],
  ['rotate-token', 'Replace an API token by a new one', () => import('./tokens/rotate.js')],
  ['jwks', 'Set, print or remove the JWKS URL', () => import('./access/jwks.js')],
  ['whitelist', 'Allow an IP address, or list those allowed', () => import('./access/whitelist.js')],
  ['whitelist-remove', 'Remove an IP address', () => import('./access/whitelist-remove.js')],
  ['users', 'List the accounts', () => import('./users/list.js')],
  ['users show', 'Print one account', () => import('./users/show.js')],
  ['users create', 'Create an account', () => import('./users/create.js')],
  ['users disable', 'Disable an account', () => import('./users/disable.js')],
  ['users enable', 'Enable an account again', () => import('./users/enable.js')],
  ['users delete', 'Delete an account for good', () => import('./users/delete.js')],
  ['users reset-password', 'Require a new password', () => import('./users/reset-password.js')],
  ['users import', 'Create accounts from a file', () => import('./users/import.js')],
  ['users export', 'Write all accounts with their password hashes to a file', () => import('./users/export.js')],
  ['users end-sessions', 'End every session of an account', () => import('./users/end-sessions.js')],
  ['users remove-two-factor', 'Turn off two-factor authentication', () => import('./users/remove-two-factor.js')],
  ['sessions', 'List the sessions of all users, or of one', () => import('./sessions/list.js')],
  ['sessions end', 'End a session', () => import('./sessions/end.js')],
  ['mail', 'List the mail that waits or was set aside', () => import('./mail/list.js')],
  ['mail retry', 'Send a mail again now', () => import('./mail/retry.js')],
  ['mail drop', 'Remove a mail without sending it', () => import('./mail/drop.js')],
  ['audit', 'List the audit log', () => import('./audit/list.js')],
  ['audit verify', 'Check that the audit log was not changed', () => import('./audit/verify.js')],
  ['audit export', 'Write the audit log to a file', () => import('./audit/export.js')],
  ['use', 'Choose the space of this folder', () => import('./spaces/use.js')],
  ['spaces', 'List the spaces of a host', () => import('./spaces/list.js')],
  ['create', 'Create a space', () => import('./spaces/create.js')],
  ['take-over', 'End the change of a space that is under way', () => import('./spaces/take-over.js')],
  ['remove-space', 'Remove a space with its data', () => import('./spaces/remove.js')],
  ['project', 'List the users of the project', () => import('./project/list.js')],
  ['project add', 'Give a person a right on the project', () => import('./project/add.js')],
  ['project set', 'Change the right of a user', () => import('./project/set.js')],
  ['project remove', 'Take the right of a user away', () => import('./project/remove.js')],
  ['teams', 'List the teams', () => import('./project/teams.js')],
  ['teams create', 'Create a team', () => import('./project/create-team.js')],
  ['teams set', 'Change the right or the name of a team', () => import('./project/set-team.js')],
  ['teams remove', 'Remove a team', () => import('./project/remove-team.js')],
  ['teams add-user', 'Add a person to a team', () => import('./project/add-member.js')],
  ['teams remove-user', 'Take a person out of a team', () => import('./project/remove-member.js')],
  ['add-admintoken', 'Create an admin token', () => import('./admin-tokens/add.js')],
  ['admintokens', 'List the admin tokens', () => import('./admin-tokens/list.js')],
  ['admintokens remove', 'Remove an admin token', () => import('./admin-tokens/remove-from-list.js')],
  ['remove-admintoken', 'Remove an admin token', () => import('./admin-tokens/remove.js')],
  ['set-env', 'Set an environment variable of a space', () => import('./environment/set.js')],
  ['env', 'List the environment variables of a space', () => import('./environment/list.js')],
  ['remove-env', 'Remove an environment variable of a space', () => import('./environment/remove.js')],
  ['deploy', 'Deploy the application in this folder to a space', () => import('./releases/deploy.js')],
  ['undeploy', 'Take the code of a space away', () => import('./releases/undeploy.js')],
  ['createindex', 'Create an index of a collection', () => import('./collections/create-index.js')],
  ['removeindex', 'Remove an index of a collection', () => import('./collections/remove-index.js')],
  ['query', 'Print or change objects of a collection', () => import('./collections/query.js')],
  ['import', 'Add the rows of a file to a collection', () => import('./collections/import.js')],
  ['export', 'Write all objects of a collection', () => import('./collections/export.js')],
  ['backup', 'Write everything of a space to a file', () => import('./backups/backup.js')],
  ['restore', 'Replace the data of a space by that of a backup', () => import('./backups/restore.js')],
  ['log', 'Print what the application of a space logs', () => import('./releases/log.js')],
  ['doctor', 'Check the deployment and print what is wrong', () => import('./doctor.js')],
  ['secret', 'Print two fresh secrets for .env', () => import('./secret.js')],
]
