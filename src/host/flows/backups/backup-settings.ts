import type { ApiTokenRecord } from '../../../model/api-token.js'
import type { SpaceName } from '../../../model/visitor.js'
import type { BackupSettings } from '../../archives/backup-settings.js'
import type { BackupPorts } from './ports.js'

const pageSize = 200

/** The settings of a space, sealed as they are stored. */
export async function readSettings(ports: BackupPorts, { id, name }: SpaceName): Promise<BackupSettings> {
  const { apiTokens, accessSettings } = ports.accessOf({ id, name })
  const { jwksUrl, jwksRules, networks } = await accessSettings.read()
  const stored = await ports.environment.read(id)
  const tokens = await allTokens(apiTokens)
  return {
    jwks: jwksUrl === null ? null : { url: jwksUrl, rules: jwksRules ?? null },
    networks,
    apiTokens: tokens.map(({ lastUsedAt: _, ...token }) => token),
    environment: (stored?.variables ?? []).map(({ name: variable, version, sealed, encrypted }) => ({
      name: variable,
      version,
      sealed,
      encrypted,
    })),
  }
}

export async function allTokens({
  list,
}: Pick<ReturnType<BackupPorts['accessOf']>['apiTokens'], 'list'>): Promise<ApiTokenRecord[]> {
  const all: ApiTokenRecord[] = []
  for (;;) {
    const page = await list({ after: all.at(-1) ?? null, limit: pageSize })
    all.push(...page)
    if (page.length < pageSize) return all
  }
}
