import type { CheckRow } from './report.js'

/** The checks that a space host adds to the list. */
export const hostCheckRows = {
  isolation_weak: {
    where: ['S'],
    level: 'warn',
    cause: 'Code of one space can reach what belongs to others, and more than one party is involved here.',
    cure: "Install bubblewrap and set `isolation: 'sandbox'`. Otherwise let only people deploy who may read every space.",
  },
  sandbox_absent: {
    where: ['S'],
    level: 'warn',
    cause: 'Applications run without a sandbox, because it does not work on this machine.',
    cure: "Do what the finding says. To stay without a sandbox, write `isolation: 'process'`.",
  },
  network_open: {
    where: ['S'],
    level: 'warn',
    cause: 'Applications with a network reach what listens on this machine, on loopback or on every address.',
    cure: 'Let those programs ask for a password, or give applications no network by `limits.network`.',
  },
  admin_same_site: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'Pages of a space can plant cookies for the pages of the host, because both are below one domain.',
    cure: 'Set `adminUrl` to a host name below another domain than that of `baseUrl`.',
  },
  master_key_unsaved: {
    where: ['S', 'L'],
    level: 'warn',
    cause: 'The master key lies beside the data that it protects. If the disk is lost, no backup opens.',
    cure: 'Keep a copy elsewhere. Then give it by `LATCHKEY_MASTER_KEY` or `--master-key-file`, and remove the file.',
  },
  backup_old: {
    where: ['S'],
    level: 'warn',
    cause: 'A space has had no backup for 7 days.',
    cure: 'Run `latchkey backup` each day, by cron and with an admin token for `backup`. Keep the files on another machine.',
  },
  generation_lost: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'The host started with an older `host.db`, which does not know this data. It may be the only copy.',
    cure: 'Look into the files before you remove them. Every admin token from before counts again: remove them all.',
  },
  space_crashed: {
    where: ['S'],
    level: 'error',
    cause:
      'The application of a space crashed ten times in ten minutes, so it is started at long intervals only, and is down in between.',
    cure: 'Read `latchkey log`. Then deploy a mended release, or run `latchkey deploy --rollback`.',
  },
  query_scope: {
    where: ['S'],
    level: 'warn',
    cause: 'An application writes `req.query.<field>` to limit rows to their owner. A client bypasses that by `q={}`.',
    cure: 'Merge the condition into `q`, or write the routes yourself.',
  },
  disk_low: {
    where: ['S', 'L'],
    level: 'error',
    cause: 'Less than 1 GiB or 5 % of the disk is free, so spaces may write nothing.',
    cure: 'Remove what is not needed, or enlarge the disk.',
  },
} as const satisfies Readonly<Record<string, CheckRow>>
