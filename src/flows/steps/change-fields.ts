import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'

type Fields = Readonly<Record<string, unknown>>
/** Looking for what is unfit takes several calls of the schema for each field. */
const mostLookedThrough = 100

type FieldPorts = { policy: Pick<Ports['policy'], 'parseFields'> }

/**
 * A user's extra fields with those in them that a client sends, by the owner's schema over all of them; null where there is
 * nothing to write.
 *
 * Nothing that was not sent gets lost or in the way: what the application has imported need not be known to the schema,
 * and what the schema has made of a field need not be what it takes.
 *
 * @throws {AuthError} `invalid_request` by the owner's schema
 */
export async function changeFields(ports: FieldPorts, stored: Fields, sent: Fields): Promise<Fields | null> {
  if (Object.keys(sent).length === 0) return null
  const others = Object.entries(stored).filter(([name]) => !Object.hasOwn(sent, name))
  const parsed = await parseAmong(ports, sent, others)
  // Without a schema, too: then none may be set.
  if (Object.keys(parsed).length === 0) return null
  return { ...stored, ...parsed, ...Object.fromEntries(others) }
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
 * Those of the stored fields that the schema takes as they are, one after the other, so that each is judged in the company
 * of the others; twice, so that their order says nothing. Only the rest is kept from it: rules between fields hold.
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
