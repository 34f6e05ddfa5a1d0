import { describe, expect, test } from 'vitest'
import { hasSandbox, tryInSandbox } from '../../support/sandboxed.js'

describe.skipIf(!hasSandbox)('the sandbox alone, without the permission model', { timeout: 120_000 }, () => {
  test('ATK-242 ATK-271 shows one process, its own files and no place to write but a bounded one', async () => {
    const { stdout, stderr, status, host } = await tryInSandbox(`
      import { spawnSync } from 'node:child_process'
      import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
      const outcome = (work) => { try { return work() ?? 'works' } catch (error) { return error.code } }
      const write = (path, bytes) => outcome(() => writeFileSync(path, Buffer.alloc(bytes)))
      const processes = readdirSync('/proc').filter((name) => Number(name) > 0)
      const fields = Object.fromEntries(readFileSync('/proc/self/status', 'utf8').split('\\n').map((line) => line.split(':\\t')))
      console.log(JSON.stringify({
        root: readdirSync('/').sort(), latchkey: readdirSync('/latchkey').sort(), processes,
        environment: Object.keys(process.env).sort(), argv: process.argv,
        hidden: ['/etc', '/home', '/root', '/var', '/sys', '/work'].filter((path) => existsSync(path)),
        places: ['/a', '/dev/shm/a', '/run/a', '/app/a', '/usr/lib/a', '/latchkey/a', '/proc/sys/kernel/core_pattern'].map((path) => write(path, 1)),
        small: write('/tmp/a', 1024), large: write('/tmp/b', 8 * 1024 * 1024), beside: write('/run/requests/b', 1024 * 1024),
        spawned: spawnSync('/usr/bin/node', ['-e', '0']).error?.code,
        front: outcome(() => process.kill(process.ppid, 0)), others: outcome(() => process.kill(4000, 0)),
        capabilities: fields.CapEff, newPrivileges: fields.NoNewPrivs, filter: fields.Seccomp,
        descriptors: readdirSync('/proc/self/fd').filter((name) => ['4', '5', '6'].includes(name)).length,
        socket: existsSync('/run/data'),
      }))
      process.exit(7)
    `)
    expect(stderr).toBe('')
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({
      latchkey: ['mingo', 'runner.mjs'],
      processes: ['1'],
      hidden: [],
      places: Array.from({ length: 7 }, () => 'EROFS'),
      small: 'works',
      large: 'ENOSPC',
      beside: 'ENOSPC',
      spawned: 'EPERM',
      others: 'ESRCH',
      capabilities: '0000000000000000',
      newPrivileges: '1',
      filter: '2',
      socket: true,
    })
    expect(seen.environment).toEqual(['HOME', 'LANG', 'NODE_ENV', 'PATH', 'PWD', 'TZ'])
    expect(JSON.stringify(seen)).not.toContain(host)
    expect(JSON.parse(status.split('\n')[1] ?? '')).toEqual({ 'exit-code': 7 })
  })

  test('ATK-273 has no network interface and no abstract socket of the machine, unless it gets the network', async () => {
    const script = `
      import { connect, createServer } from 'node:net'
      import { lookup } from 'node:dns'
      const server = createServer().listen(0, '127.0.0.1', () => {
        const socket = connect(server.address().port, '127.0.0.1')
        socket.on('connect', () => { console.log('connected'); process.exit() })
        socket.on('error', (error) => { console.log(error.code); process.exit() })
      }).on('error', (error) => { console.log(error.code); process.exit() })
      const far = connect({ host: '198.51.100.1', port: 9, timeout: 500 })
      far.on('error', (error) => console.log('far ' + error.code))
    `
    const without = await tryInSandbox(script)
    expect(without.stdout).toContain('far ENETUNREACH')
    const names = await tryInSandbox(
      `import { readFileSync } from 'node:fs'; console.log(readFileSync('/proc/net/unix', 'utf8').split('\\n').filter((line) => line.includes('@')).length)`,
    )
    expect(names.stdout).toBe('0\n')
    const files = await tryInSandbox(`import { existsSync } from 'node:fs'; console.log(existsSync('/etc/hosts'))`, {
      hasNetwork: true,
    })
    expect(files.stdout).toBe('true\n')
  })

  test('ATK-274 ATK-275 refuses keyrings, io_uring, traces, netlink, namespaces, mounts and typing, as real calls', async () => {
    const numbers: Readonly<Record<string, readonly number[]>> = {
      x64: [250, 425, 101, 272, 165, 435, 319, 29, 41, 16, 57],
      arm64: [219, 425, 117, 97, 40, 435, 279, 194, 198, 29, 220],
    }
    const [keyctl, uring, ptrace, unshare, mount, clone3, memfd, shmget, socket, ioctl, fork] =
      numbers[process.arch] ?? []
    const { stdout, stderr } = await tryInSandbox(
      `sub try { my ($name, @call) = @_; my $r = syscall(shift @call, @call); print "$name ", ($r == -1 ? $!+0 : 'works'), "\\n" }
      my $room = "\\0" x 128; my $name = "x\\0";
      try('keyctl', ${keyctl}, 0, -3, 0, 0, 0); try('io_uring', ${uring}, 1, $room); try('ptrace', ${ptrace}, 0, 0, 0, 0);
      try('unshare', ${unshare}, 0x10000000); try('mount', ${mount}, $name, $name, $name, 0, 0); try('clone3', ${clone3}, $room, 88);
      try('memfd', ${memfd}, $name, 0); try('shmget', ${shmget}, 0, 4096, 512); try('netlink', ${socket}, 16, 3, 0);
      try('vsock', ${socket}, 40, 1, 0); try('unix', ${socket}, 1, 1, 0); try('typing', ${ioctl}, 0, 0x5412, $name);
      try('new process', ${fork}, 17, 0, 0, 0, 0);`,
      { isPerl: true },
    )
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toEqual([
      ...['keyctl 1', 'io_uring 1', 'ptrace 1', 'unshare 1', 'mount 1', 'clone3 38', 'memfd 1', 'shmget 1'],
      ...['netlink 97', 'vsock 97', 'unix works', 'typing 1', 'new process 1'],
    ])
  })
})
