// Writes dist/, what the package holds, from .build/, where `tsc` has put a file for each source: the entries and the parts that
// they share, and the declarations of each door. Names stay as they are, so that a stack reads well.
//
// Code that finds a file by `import.meta.url` may end in a shared part. So all parts lie beside the entries, and each program that
// is found this way (hash threads, data threads, query workers, the runner of applications) lies where it is seen from there.
import { readdirSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { rolldown } from 'rolldown'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

/** What package.json exports: file of dist, and source. */
const doors = {
  index: 'index',
  testing: 'testing',
  client: 'client',
  'client/passkeys': 'client/passkeys',
  react: 'react',
  host: 'host/create-host',
}
const programs = {
  cli: 'cli/main',
  preview: 'preview',
  'hash-worker': 'passwords/hash-worker',
  'thread/worker': 'host/storage/thread/worker',
  'program/main': 'host/workers/program/main',
}

const external = (/** @type {string} */ id) => !/^[./]/.test(id)
const onwarn = (/** @type {{ message?: string }} */ warning) => {
  throw new Error(warning.message)
}

const code = await rolldown({
  input: ofBuild({ ...doors, ...programs }, '.js'),
  external,
  platform: 'node',
  onwarn,
})
const codeFiles = await code.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  comments: { annotation: true, jsdoc: false, legal: true },
  codeSplitting: {
    groups: [
      // Apart from the other module of passwords/ that has a `require`.
      { name: 'argon2-package', test: /argon2-package\.js$/ },
      // src/tokens/jwt.ts knows by the name of its file whether an application has bundled it.
      { name: 'jwt', test: /tokens\/jwt\.js$/ },
    ],
  },
})
for (const file of codeFiles.output) {
  if (file.type === 'chunk' && file.code.includes('isBundled =') && !/^jwt-[\w-]{8}\.js$/.test(file.fileName))
    throw new Error(`${file.fileName} holds src/tokens/jwt.ts under a name that it does not know`)
  // `@vercel/nft`, which copies the files of a deployment, follows `require('pg')`, and no other name than `require`.
  if (file.type === 'chunk' && /require\$\d/.test(file.code))
    throw new Error(`${file.fileName} has two modules that call a require`)
}

// Apart: the declarations of the browser's doors must not lead to those of a server.
const typeEntries = { ...doors, 'types-errors': 'errors' }
const types = await rollup({ input: ofBuild(typeEntries, '.d.ts'), plugins: [dts()], external, onwarn })
const typeFiles = await types.write({
  dir: 'dist',
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'types-[hash].d.ts',
})

// What an earlier build left. Emptying dist first would pull the package away from under whatever runs on it.
const written = [...codeFiles.output, ...typeFiles.output].map(({ fileName }) => fileName).concat('runner.mjs')
for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = relative('dist', `${entry.parentPath}/${entry.name}`).replaceAll('\\', '/')
  if (entry.isFile() && !written.includes(path)) rmSync(`dist/${path}`)
}

/**
 * @param {Record<string, string>} entries file of dist, and source
 * @param {string} extension
 */
function ofBuild(entries, extension) {
  return Object.fromEntries(Object.entries(entries).map(([to, from]) => [to, `./.build/${from}${extension}`]))
}
