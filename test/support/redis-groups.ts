import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './auth.js'
import { freePort } from './program.js'
import { lookInto, type PrivateRedis, startRedis, until } from './redis-server.js'

/** A primary with a replica, and a Sentinel that lets the replica take over. */
export interface SentinelGroup {
  primary: PrivateRedis
  replica: PrivateRedis
  sentinelPort: number
  /** What clients of a Sentinel ask for. */
  name: string
}

export async function startSentinelGroup(): Promise<SentinelGroup> {
  const primary = await startRedis(['--repl-diskless-sync-delay', '0'])
  const replica = await startRedis(['--replicaof', `127.0.0.1 ${primary.port}`])
  await until('the replica follows', async () => (await infoOf(replica)).includes('master_link_status:up'))
  const [name, sentinelPort] = ['app', await freePort()]
  const file = join(temporaryFolder(), 'sentinel.conf')
  const lines = [
    `port ${sentinelPort}`,
    'bind 127.0.0.1',
    `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 5000`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  onTestFinished(() => ended(sentinel))
  const redis = lookInto(`redis://127.0.0.1:${sentinelPort}`)
  await until('the Sentinel knows the replica', async () => {
    const replicas = await redis.call('SENTINEL', 'REPLICAS', name).catch(() => [])
    return Array.isArray(replicas) && replicas.length === 1
  })
  return { primary, replica, sentinelPort, name }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function infoOf({ url }: PrivateRedis): Promise<string> {
  return lookInto(url).info('replication')
}

const slots = [
  [0, 5_460],
  [5_461, 10_922],
  [10_923, 16_383],
] as const

/** Three primaries with a third of the slots each, and a replica of the first. */
export async function startCluster(): Promise<{ primaries: PrivateRedis[]; replica: PrivateRedis }> {
  const started = await Promise.all([1, 2, 3, 4].map(startClusterNode))
  const [first, second, third, replica] = started.map(({ node }) => node)
  if (!first || !second || !third || !replica) throw new Error('no cluster')
  const primaries = [first, second, third]
  for (const [index, { url }] of primaries.entries()) {
    const [from, to] = slots[index] ?? []
    await lookInto(url).call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
  }
  for (const { node, busPort } of started.slice(1)) {
    await lookInto(first.url).call('CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(busPort))
  }
  const all = started.map(({ node }) => node)
  for (const node of all) await until('the nodes know each other', async () => (await nodesOf(node)).length === 4)
  const id = String(await lookInto(first.url).call('CLUSTER', 'MYID'))
  await lookInto(replica.url).call('CLUSTER', 'REPLICATE', id)
  await until('the replica follows', async () => (await infoOf(replica)).includes('master_link_status:up'))
  for (const { url } of all) {
    const redis = lookInto(url)
    await until('the cluster is whole', async () => {
      const known = String(await redis.call('CLUSTER', 'SLOTS'))
      return (
        String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok') && known.includes(String(replica.port))
      )
    })
  }
  return { primaries, replica }
}

async function startClusterNode(): Promise<{ node: PrivateRedis; busPort: number }> {
  const busPort = await freePort()
  const flags = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', String(busPort)]
  const node = await startRedis([...flags, '--repl-diskless-sync-delay', '0'])
  return { node, busPort }
}

async function nodesOf({ url }: PrivateRedis): Promise<string[]> {
  const text = String(await lookInto(url).call('CLUSTER', 'NODES'))
  return text
    .trim()
    .split('\n')
    .filter((line) => !line.includes('handshake'))
}
