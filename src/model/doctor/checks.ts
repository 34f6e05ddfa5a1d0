import type { CheckRow } from './report.js'

/** THE list of checks, in the order of the report. */
export const checkRows = {
  node_version: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'This version of Node is not supported by Latchkey, or no longer gets security fixes.',
    cure: 'Install a supported version of Node.',
  },
  package_missing: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'A setting needs an optional package that is missing or has an unsupported version.',
    cure: 'Install the package.',
  },
  settings_fault: {
    where: ['L'],
    level: 'error',
    cause: 'A setting is wrong, so `init` refuses to start.',
    cure: 'Correct the setting.',
  },
  admin_missing: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'No account of `admin.emails` can administer this application.',
    cure: 'Run `latchkey create-admin <address>`. Then sign in, and set up a second factor on the account page.',
  },
  secret_old: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'The same secret has signed tokens for more than 365 days.',
    cure: 'Put a new secret first in the list, and keep the old one second until its tokens have expired.',
  },
  store_unreachable: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'The database does not answer.',
    cure: 'Check the URL of `database`, the network, and the rights of the database user.',
  },
  store_slow: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'The median of 20 small reads takes more than 50 ms.',
    cure: 'Run the application near the database, and check the load of the database.',
  },
  schema_behind: {
    where: ['L'],
    level: 'error',
    cause: 'The tables are older than this release of Latchkey.',
    cure: 'Run `latchkey migrate`.',
  },
  schema_ahead: {
    where: ['L'],
    level: 'error',
    cause: 'A newer release of Latchkey has migrated the tables.',
    cure: 'Upgrade the package `latchkey` to the newer release.',
  },
  feed_stale: {
    where: ['S'],
    level: 'error',
    cause: 'The change feed is older than half of `revocation.staleness`. At the full age guarded requests get 503.',
    cure: 'Check the load of the database and the size of its connection pool.',
  },
  clock_skew: {
    where: ['S', 'L', 'N'],
    level: 'warn',
    cause:
      'Two clocks differ by 2 seconds or more. Tokens expire too early or too late. From 30 seconds it is an error.',
    cure: 'Run NTP on every machine.',
  },
  mail_backlog: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Mail has waited for 15 minutes, or was set aside after its last attempt.',
    cure: 'Run `latchkey mail` to see the reason of each mail.',
  },
  smtp_refused: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'The mail server cannot be used: connection, EHLO, STARTTLS or AUTH fails.',
    cure: 'Check host, port, user and password of `mail.transport`.',
  },
  mail_spf: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Without an SPF record, receivers cannot tell which servers may send mail for the domain (RFC 7208).',
    cure: 'Add a TXT record such as `v=spf1 include:<your mail provider> -all`.',
  },
  mail_dmarc: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Without a DMARC record, large receivers put mail into the spam folder or refuse it (RFC 7489).',
    cure: 'Add a TXT record such as `v=DMARC1; p=quarantine`.',
  },
  mail_dkim: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Mail is signed with a selector that has no record, so receivers cannot check the signature (RFC 6376).',
    cure: 'Add the TXT record with the public key of the selector.',
  },
  base_url_mismatch: {
    where: ['N'],
    level: 'error',
    cause: 'The address does not lead to this installation.',
    cure: 'Set `baseUrl` to the public address, and forward it to the application.',
  },
  page_unreachable: {
    where: ['N'],
    level: 'error',
    cause: 'A page of Latchkey or one of its files does not arrive.',
    cure: 'Forward all of `basePath` to the application, and strip no part of the path.',
  },
  https_missing: {
    where: ['N'],
    level: 'error',
    cause: 'Passwords and cookies travel unencrypted.',
    cure: 'Serve the application over https. TLS may end at the proxy.',
  },
  hsts_missing: {
    where: ['N'],
    level: 'warn',
    cause: 'The proxy strips Strict-Transport-Security, so a browser may be tricked into http (RFC 6797).',
    cure: 'Pass the header Strict-Transport-Security on.',
  },
  cookie_altered: {
    where: ['N'],
    level: 'error',
    cause: 'The proxy changes cookies on the way, so browsers may drop or expose the session.',
    cure: 'Stop rewriting Set-Cookie in the proxy.',
  },
  proxy_untrusted: {
    where: ['S', 'N'],
    level: 'error',
    cause:
      'A proxy sends forwarding headers but `trustedProxies` is not set, so all clients share one address and one limit.',
    cure: 'Set `trustedProxies` to the addresses or CIDRs of your proxies.',
  },
  proxy_spoofable: {
    where: ['N'],
    level: 'error',
    cause: 'The application believed a forged X-Forwarded-For, so clients can evade limits and allow-list.',
    cure: 'Narrow `trustedProxies` to the addresses of your own proxies.',
  },
  allow_list_closed: {
    where: ['S', 'L'],
    level: 'error',
    cause:
      'The allow-list admits no client while `trustedProxies` is a count, since clients could forge their address.',
    cure: 'Set `trustedProxies` to the addresses or CIDRs of your proxies.',
  },
  allow_list_self: {
    where: ['N'],
    level: 'warn',
    cause: 'The address that you work from is not on the allow-list.',
    cure: 'Run `latchkey whitelist <your address>`.',
  },
  jwks_unreachable: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'The key set of the other issuer cannot be fetched, so its tokens are refused.',
    cure: 'Check the URL of the key set and the outgoing network of the application.',
  },
  jwks_no_key: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'The key set has no key for the configured algorithms, so every token of the issuer is refused.',
    cure: 'Check the URL of the key set and `jwks.algorithms`.',
  },
  jwks_audience: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'No audience is set, so a token that the issuer made for another application is accepted.',
    cure: 'Set `jwks.audience` to the audience of your API.',
  },
  oauth_redirect: {
    where: ['L'],
    level: 'error',
    cause: 'The provider refuses `REDIRECT_URI`, so users cannot sign in with it.',
    cure: 'Register the `REDIRECT_URI` of the settings at the provider, letter for letter.',
  },
  oauth_discovery: {
    where: ['L'],
    level: 'error',
    cause: 'The document of the issuer does not load or names another issuer.',
    cure: 'Set `ISSUER` letter for letter as the provider writes it.',
  },
  breach_check_down: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'The range API does not answer, so new passwords are not compared with known breaches.',
    cure: 'Allow outgoing requests to it, or set `password.checkBreached` to another URL.',
  },
  hash_fallback: {
    where: ['S'],
    level: 'warn',
    cause: 'Passwords are hashed on the event loop, which holds up every request meanwhile.',
    cure: 'Use a runtime with worker threads, which a space of a space host lacks. Exclude Latchkey from the bundle, if there is one.',
  },
  redis_unreachable: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'Redis does not answer, so requests that are counted get 503.',
    cure: 'Check the URL of `redis`, the network, and the rights of the Redis user.',
  },
  redis_evicts: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Redis may drop counters when its memory is full, which resets the limits of attackers.',
    cure: 'Set `maxmemory-policy noeviction` in Redis.',
  },
} as const satisfies Readonly<Record<string, CheckRow>>

export type CheckCode = keyof typeof checkRows
