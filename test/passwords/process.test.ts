import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Compiled, compile } from './compiled.js'

let compiled: Compiled

beforeAll(() => {
  compiled = compile()
})
afterAll(() => compiled.remove())

const permission = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

function withoutWorkerFile(): Compiled {
  const bundle = compile()
  rmSync(join(bundle.folder, 'passwords', 'hash-worker.js'))
  return bundle
}

/** Makes `passwords`, signs in once and prints what came of it. */
const signIn = `
  import { createPasswords } from './passwords/hashed-passwords.js'
  const passwords = createPasswords({
    cost: 4, algorithm: 'bcrypt', pepper: ['pepper'], monotonic: () => 0, sleep: async () => {},
    onFallback: (reason) => console.log('fallback:', reason),
  })
  const stored = await passwords.hash('correct horse')
  const right = await passwords.verify('correct horse', stored)
  const wrong = await passwords.verify('wrong horse', stored)
  console.log(right.matches, right.outdated, wrong.matches)
`

describe('a process that hashes', () => {
  test('ends by itself when its work is done, idle threads or not, and prints no warning', async () => {
    expect(await compiled.run(signIn)).toEqual({ code: 0, stdout: 'true false false\n', stderr: '' })
  })

  test('ends after close, which settles even when nothing else keeps it alive', async () => {
    const closing = `${signIn}; await passwords.close(); console.log('closed')`
    expect(await compiled.run(closing)).toEqual({ code: 0, stdout: 'true false false\nclosed\n', stderr: '' })
  })

  test('stays alive for a job that nothing else waits for', async () => {
    const source = `
      import { createHashPool } from './passwords/hash-pool.js'
      createHashPool().run({ scheme: 'bcrypt', text: 'x', salt: 8 }).then(({ hash }) => console.log(hash.length))
    `
    expect(await compiled.run(source)).toEqual({ code: 0, stdout: '60\n', stderr: '' })
  })

  test('refuses common passwords from compiled code too', async () => {
    const source = `
      import { passwordFaults } from './passwords/policy.js'
      console.log(await passwordFaults('Sunshine2024', 'a@b.example', { minLength: 8 }))
    `
    expect(await compiled.run(source)).toEqual({ code: 0, stdout: "[ 'common' ]\n", stderr: '' })
  })
})

describe('a process without worker threads', () => {
  test('hashes on the event loop where the platform forbids threads', async () => {
    const { code, stdout } = await compiled.run(signIn, [permission, '--allow-fs-read=*', '--no-warnings'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'fallback: ERR_ACCESS_DENIED\ntrue false false\n' })
  })

  test('hashes on the event loop where the platform forbids threads and the worker file was left behind', async () => {
    const bundle = withoutWorkerFile()
    const { code, stdout } = await bundle.run(signIn, [permission, '--allow-fs-read=*', '--no-warnings'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'fallback: ERR_ACCESS_DENIED\ntrue false false\n' })
    bundle.remove()
  })
})

describe('a process without the worker file, as a bundle has it', () => {
  test('hashes in threads all the same, and ends by itself when its work is done', async () => {
    const bundle = withoutWorkerFile()
    const source = `
      let threads = 0
      process.on('worker', () => threads += 1)
      ${signIn}
      console.log(threads)
    `
    expect(await bundle.run(source)).toEqual({ code: 0, stdout: 'true false false\n1\n', stderr: '' })
    bundle.remove()
  })

  test('ends after close', async () => {
    const bundle = withoutWorkerFile()
    const closing = `${signIn}; await passwords.close(); console.log('closed')`
    expect(await bundle.run(closing)).toEqual({ code: 0, stdout: 'true false false\nclosed\n', stderr: '' })
    bundle.remove()
  })
})

test('where @node-rs/argon2 is missing, hashes by it match nothing, which is said once, and others go on', async () => {
  const bare = compile(['bcryptjs', 'piscina'])
  const source = `
    import { createPasswords } from './passwords/hashed-passwords.js'
    const passwords = createPasswords({
      cost: 4, algorithm: 'bcrypt', pepper: [], monotonic: () => 0, sleep: async () => {},
      onUnreadable: (reason) => console.log('unreadable:', reason),
    })
    const argon2id = '$argon2id$v=19$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$7B7gqtld0c3KY5tdKbb+zJjjT6aXaM1WV0XaCtcvQQ8'
    passwords.expect({ name: '$argon2id$v=19$m=4096,t=3,p=1', milliseconds: 10_000 })
    for (const password of ['correct horse', 'wrong horse']) {
      console.log((await passwords.verify(password, argon2id)).matches)
    }
    console.log((await passwords.verify('correct horse', await passwords.hash('correct horse'))).matches)
    console.log(passwords.inspect(argon2id))
  `
  const stdout = 'unreadable: MODULE_NOT_FOUND\nfalse\nfalse\ntrue\nhash_package_missing\n'
  expect(await bare.run(source)).toEqual({ code: 0, stdout, stderr: '' })
  bare.remove()
})

test('no package and no list is loaded before it is needed', async () => {
  const bare = compile()
  rmSync(join(bare.folder, 'node_modules'))
  rmSync(join(bare.folder, 'passwords', 'common-passwords.js'))
  const source = `
    import { createPasswords } from './passwords/hashed-passwords.js'
    import { passwordFaults } from './passwords/policy.js'
    createPasswords({ cost: 4, algorithm: 'bcrypt', pepper: [], monotonic: () => 0, sleep: async () => {} })
    console.log(typeof passwordFaults)
  `
  expect(await bare.run(source)).toEqual({ code: 0, stdout: 'function\n', stderr: '' })
  bare.remove()
})
