import type * as Esbuild from 'esbuild'
import type * as TarStream from 'tar-stream'
import { unlessMissing } from '../../lib/optional-package.js'
import { packagesMissing } from '../tool-error.js'

/** The optional packages that make a release. */
export interface BundlePackages {
  esbuild: typeof Esbuild
  tar: Pick<typeof TarStream, 'pack'>
}

/** As `npm install` takes them: the versions that are tested. */
const wanted = { esbuild: 'esbuild@0.28.2', tar: 'tar-stream@3' }

/**
 * Loads the packages.
 *
 * @throws {ToolError} exit code 2, with the command that installs all that are missing
 */
export async function loadBundlePackages(
  load: { [Name in keyof BundlePackages]: () => Promise<BundlePackages[Name]> } = {
    esbuild: () => import('esbuild'),
    tar: () => import('tar-stream'),
  },
): Promise<BundlePackages> {
  const [esbuild, tar] = await Promise.all([unlessMissing(load.esbuild()), unlessMissing(load.tar())])
  if (esbuild && tar) return { esbuild, tar }
  throw packagesMissing([...(esbuild ? [] : [wanted.esbuild]), ...(tar ? [] : [wanted.tar])])
}
