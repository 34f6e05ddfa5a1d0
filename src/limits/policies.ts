import type { CounterRule } from '../model/counter.js'
import type { LimitKind, Settings } from '../settings.js'
import type { AccountKind } from './limiter.js'

type Limits = NonNullable<Settings['limits']>

/** For each kind of request the rule of one client address, and, where there is one, of one account. */
export interface Policies {
  ip: Readonly<Record<LimitKind, CounterRule>>
  account: Readonly<Record<AccountKind, CounterRule>>
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/**
 * What the settings do not change: the wait after a window full of failures (bounded, so that nobody can lock another
 * out for long), and the long windows. NIST SP 800-63B §3.2.2 allows 100 failures in a row; a failure more than a year
 * old is not remembered, so that guesses at addresses nobody has do not stay for ever.
 */
const fixed = {
  login: { waitSeconds: 15 * minute, long: { limit: 100, windowSeconds: 365 * day } },
  guess: { long: { limit: 100, windowSeconds: 365 * day } },
  mail: { long: { limit: 10, windowSeconds: day } },
} as const satisfies Record<AccountKind, Partial<CounterRule>>

/** The one table: the numbers of the settings, and what is fixed. */
export function policiesOf(limits: Limits): Policies {
  const { login, mail, guess, refresh, apiToken, other } = limits
  return {
    ip: {
      login: ruleOf(login.ip),
      mail: ruleOf(mail.ip),
      guess: ruleOf(guess.ip),
      refresh: ruleOf(refresh.ip),
      apiToken: ruleOf(apiToken.ip),
      other: ruleOf(other.ip),
    },
    account: {
      login: { ...ruleOf(accountOf(login)), ...fixed.login },
      guess: { ...ruleOf(accountOf(guess)), ...fixed.guess },
      // Who allows more mails at once allows as many a day.
      mail: { ...ruleOf(accountOf(mail)), long: atLeast(accountOf(mail).count, fixed.mail.long) },
    },
  }
}

function ruleOf({ count, windowSeconds }: Limits['login']['ip']): CounterRule {
  return { limit: count, windowSeconds }
}

function accountOf({ ip, account }: Limits['login']): Limits['login']['ip'] {
  return account ?? ip
}

function atLeast(count: number, long: NonNullable<CounterRule['long']>): NonNullable<CounterRule['long']> {
  return { ...long, limit: Math.max(long.limit, count) }
}
