// Writes the program of the host's child processes as one file, dist/runner.mjs: under the permission model a child may read
// this file, its release and mingo, and nothing else. mingo stays outside; the front names its path.
// Run by `npm run build`; tests name another file.
import { build } from 'esbuild'

const [outfile = 'dist/runner.mjs'] = process.argv.slice(2)

await build({
  entryPoints: ['src/host/runner/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  // package.json declares that our modules have no side effects, but the child's first module has one.
  ignoreAnnotations: true,
})
