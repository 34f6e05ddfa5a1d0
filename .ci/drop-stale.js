// Last step of the build: what dist holds of sources that are gone. (Emptying dist first would pull the package away
// from under whatever is running on it.)
import { existsSync, readdirSync, rmSync } from 'node:fs'

for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const [, module] = /^(.*?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(name) ?? []
  if (module && !existsSync(`src/${module}.ts`) && !existsSync(`src/${module}.js`)) rmSync(`dist/${name}`)
}
