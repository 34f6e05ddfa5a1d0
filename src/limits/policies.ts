import type { CounterRule } from '../model/counter.js'
import type { LimitKind, Settings } from '../settings.js'
import type { AccountKind } from './limiter.js'

type Limits = NonNullable<Settings['limits']>

/** The rules for each kind of request: one for a client address and, for some kinds, one for an account. */
export interface Policies {
  ip: Readonly<Record<LimitKind, CounterRule>>
  account: Readonly<Record<AccountKind, CounterRule>>
  mail: MailRules
  /** Notices of one kind to one account, without the one that sums up. */
  notice: CounterRule
  /** All guesses at a second factor without a success: the long window, and the one new count of a proved mailbox. */
  factorGuesses: CounterRule
}

/** How many mails of one purpose an address gets. */
export interface MailRules {
  /** On request of one known device, or of one account for an address that it does not have. */
  device: CounterRule
  /** On request of one network. */
  network: CounterRule
  /** On request of all networks together, and apart from them of all accounts together. */
  total: CounterRule
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** Guesses without a success. NIST SP 800-63B §3.2.2 allows 100 failures in a row. */
const guesses = { limit: 100, windowSeconds: 365 * day }
/** What a proof of the mailbox adds to them at a second factor. */
const guessesAfterProof = 20

/**
 * The parts that settings do not change: the wait after a window full of failures, and the long windows. The wait is bounded,
 * so that a stranger cannot lock a user out for long. Failures older than a year are forgotten, so that guesses at addresses
 * without an account are not stored for ever.
 */
const fixed = {
  login: { waitSeconds: 15 * minute, long: { limit: 100, windowSeconds: 365 * day } },
  guess: { long: guesses },
  // At five guesses a code: 20 an hour, 100 without a success.
  shortCode: { limit: 4, windowSeconds: hour, long: { limit: 20, windowSeconds: 365 * day } },
  keySetCheck: { limit: 10, windowSeconds: minute },
  impersonation: { limit: 20, windowSeconds: day },
  oauthUnasked: { limit: 1, windowSeconds: hour },
  deviceCode: { limit: 5, windowSeconds: 15 * minute, waitSeconds: 15 * minute },
  deviceCodes: { limit: 20, windowSeconds: hour },
  devicePoll: { limit: 1, windowSeconds: 5 },
} as const satisfies Partial<Record<AccountKind, Partial<CounterRule>>>

const mailsADay = { device: 10, network: 5 }
/** How many networks may use up their day before an address gets no more mails. */
const networksADay = 3

/** The one table: the numbers of the settings, and the fixed ones. */
export function policiesOf(limits: Limits): Policies {
  const { login, mail, guess, refresh, apiToken, adminToken, admin, other, notice } = limits
  return {
    ip: {
      login: ruleOf(login.ip),
      mail: ruleOf(mail.ip),
      guess: ruleOf(guess.ip),
      refresh: ruleOf(refresh.ip),
      apiToken: ruleOf(apiToken.ip),
      adminToken: ruleOf(adminToken.ip),
      admin: ruleOf(admin.ip),
      other: ruleOf(other.ip),
    },
    account: {
      login: { ...ruleOf(accountOf(login)), ...fixed.login },
      guess: { ...ruleOf(accountOf(guess)), ...fixed.guess },
      shortCode: fixed.shortCode,
      admin: ruleOf(accountOf(admin)),
      keySetCheck: fixed.keySetCheck,
      impersonation: fixed.impersonation,
      oauthUnasked: fixed.oauthUnasked,
      deviceCode: fixed.deviceCode,
      deviceCodes: fixed.deviceCodes,
      devicePoll: fixed.devicePoll,
    },
    mail: mailRules(accountOf(mail)),
    notice: ruleOf(notice.account),
    factorGuesses: { ...guesses, limit: guesses.limit + guessesAfterProof },
  }
}

/** The day always has room for at least as many mails as the short window. */
function mailRules(short: Limits['mail']['ip']): MailRules {
  const network = Math.max(mailsADay.network, short.count)
  const device = Math.max(mailsADay.device, short.count)
  return {
    device: { ...ruleOf(short), long: { limit: device, windowSeconds: day } },
    network: { ...ruleOf(short), long: { limit: network, windowSeconds: day } },
    total: { limit: networksADay * network, windowSeconds: day },
  }
}

function ruleOf({ count, windowSeconds }: Limits['login']['ip']): CounterRule {
  return { limit: count, windowSeconds }
}

function accountOf({ ip, account }: Limits['login']): Limits['login']['ip'] {
  return account ?? ip
}
