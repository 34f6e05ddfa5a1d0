import { expect, test } from 'vitest'
import { nodeOptions } from '../../../src/host/children/isolation.js'

const seen = {
  runner: '/r/runner.mjs',
  releaseFolder: '/release',
  temporaryFolder: '/tmp/space',
  mingo: '/modules/mingo/dist/mingo.js',
  memoryBytes: 256 * 1024 * 1024,
}

/** Flags that Node has in some versions only. */
const changing = [
  '--permission',
  '--experimental-permission',
  '--allow-net',
  '--no-experimental-sqlite',
  '--disable-sigusr1',
]

test.each([
  ['20', ['--experimental-permission'], ['--experimental-permission']],
  ['24', changing.filter((flag) => !['--experimental-permission', '--allow-net'].includes(flag)), null],
  ['25', changing.filter((flag) => flag !== '--experimental-permission'), null],
])('a child gets the flags that Node %s knows, with sockets where they need one', (_version, known, expected) => {
  const options = nodeOptions(seen, new Set(known))
  expect(options.filter((option) => changing.includes(option)).sort()).toEqual([...(expected ?? known)].sort())
})
