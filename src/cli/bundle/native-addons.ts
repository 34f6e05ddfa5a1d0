import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, parseJsonObject } from '../../lib/json-object.js'

/** Packages that find and load a compiled file at run time. */
const loaders = [
  'bindings',
  'node-gyp-build',
  'node-pre-gyp',
  '@mapbox/node-pre-gyp',
  'prebuild-install',
  'node-addon-api',
]

/** The package in `node_modules` that a file belongs to: its name and folder. Null for a file of the project. */
export function packageOf(path: string): { name: string; folder: string } | null {
  const [, folder = '', name = ''] = /^(.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/.exec(path) ?? []
  return name === '' ? null : { name: name.replaceAll('\\', '/'), folder }
}

/** Whether a package is native code, which a space cannot load. */
export function isNativeAddon(folder: string): boolean {
  if (existsSync(join(folder, 'binding.gyp'))) return true
  const { gypfile, napi, dependencies } = readPackage(folder)
  if (gypfile === true || isObject(napi)) return true
  return isObject(dependencies) && loaders.some((name) => name in dependencies)
}

function readPackage(folder: string): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(readFileSync(join(folder, 'package.json'), 'utf8')) ?? {}
  } catch {
    return {}
  }
}
