import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'

type Fields = Readonly<Record<string, unknown>>
/** Looking for what is unfit takes several calls of the schema for each field. */
const mostLookedThrough = 100

type FieldPorts = { policy: Pick<Ports['policy'], 'parseFields'> }

/**
 * Merges the fields that a client sends into a user's extra fields. The owner's schema checks the result. Returns null when
 * there is nothing to write.
 *
 * Fields that were not sent stay: imported fields need not be known to the schema, and the stored form of a field need
 * not be one that the schema accepts. Fields in `cleared` are removed, and the schema refuses when it requires them.
 *
 * @throws {AuthError} `invalid_request` by the owner's schema
 */
export async function changeFields(
  ports: FieldPorts,
  stored: Fields,
  sent: Fields,
  cleared: readonly string[] = [],
): Promise<Fields | null> {
  const kept = Object.entries(stored).filter(([name]) => !cleared.includes(name))
  const clears = kept.length < Object.keys(stored).length
  if (Object.keys(sent).length === 0 && !clears) return null
  const others = kept.filter(([name]) => !Object.hasOwn(sent, name))
  const parsed = await parseAmong(ports, sent, others)
  // Without a schema no field may be set.
  if (Object.keys(parsed).length === 0 && !clears) return null
  return { ...Object.fromEntries(kept), ...parsed, ...Object.fromEntries(others) }
}

async function parseAmong(ports: FieldPorts, sent: Fields, others: readonly [string, unknown][]): Promise<Fields> {
  try {
    return await ports.policy.parseFields({ ...Object.fromEntries(others), ...sent })
  } catch (fault) {
    if (!isRefusal(fault) || others.length > mostLookedThrough) throw fault
    const fit = await fitFields(ports, others)
    if (fit.size === others.length) throw fault
    return ports.policy.parseFields({ ...Object.fromEntries(fit), ...sent })
  }
}

/**
 * The stored fields that the schema accepts as they are. They are tried one after the other, each together with the accepted
 * ones, and twice, so that their order does not matter. The schema does not see the rest, but its rules between fields apply.
 */
async function fitFields(ports: FieldPorts, others: readonly [string, unknown][]): Promise<Map<string, unknown>> {
  let known = await issuesOf(ports, {})
  const ofAll = await issuesOf(ports, Object.fromEntries(others))
  if (ofAll.every((issue) => known.includes(issue))) return new Map(others)

  const fit = new Map<string, unknown>()
  for (const [name, value] of [...others, ...others]) {
    if (fit.has(name)) continue
    const issues = await issuesOf(ports, { ...Object.fromEntries(fit), [name]: value })
    if (issues.some((issue) => !known.includes(issue))) continue
    fit.set(name, value)
    known = issues
  }
  return fit
}

async function issuesOf(ports: FieldPorts, input: Fields): Promise<string[]> {
  try {
    await ports.policy.parseFields(input)
    return []
  } catch (fault) {
    if (!isRefusal(fault)) throw fault
    return (fault.details.errors ?? []).map(({ path, message }) => `${path}\n${message}`)
  }
}

function isRefusal(fault: unknown): fault is AuthError {
  return fault instanceof AuthError && fault.code === 'invalid_request'
}
