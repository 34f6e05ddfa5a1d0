import type { Steps } from '../unit.js'
import type { Users } from '../users.js'
import { administerUsers } from './administration.js'
import { changeAccounts, createAccounts } from './creation.js'
import { deleteUsers } from './deletion.js'
import { changeEmails } from './emails.js'
import { changePasswords } from './passwords.js'

/** All of them but reads and searches, which each store has in a way of its own. */
export function createUsers(steps: Steps): Omit<Users, 'findById' | 'findByEmail' | 'list' | 'count'> {
  return {
    ...createAccounts(steps),
    ...changeAccounts(steps),
    ...changeEmails(steps),
    ...changePasswords(steps),
    ...administerUsers(steps),
    ...deleteUsers(steps),
  }
}
