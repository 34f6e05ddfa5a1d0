import type { ActorEntry, HostHome } from '../host-home.js'

/** Names people where the caller may read them; without, their ids stand for them. */
export async function actorNames(host: HostHome): Promise<(actor: ActorEntry | null) => string> {
  const { user = null } = await host.describe()
  const users = user?.right === 'ADMIN' ? await host.listProjectUsers() : []
  const names = new Map(users.map(({ id, name, email }) => [id, name ?? email]))
  return (actor) => {
    if (actor === null) return ''
    const { kind, id } = actor
    if (kind === 'adminToken') return `token ${id ?? ''}`
    return id === null ? kind : (names.get(id) ?? id)
  }
}
