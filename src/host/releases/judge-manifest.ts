import {
  isCommitHash,
  pathCollision,
  pathFault,
  type ReleaseCommit,
  type ReleaseFile,
  type ReleaseLimits,
  type ReleaseManifest,
  readManifest,
  releasePaths,
  releaseSizes,
} from '../../model/release.js'
import { quoted } from '../archives/quoted.js'
import { bundleInvalid, deployAgain } from './bundle-invalid.js'

/**
 * Reads `release.json` and checks everything that it lists, before anything is written.
 *
 * @throws {AuthError} `bundle_invalid`
 */
export function judgeManifest(text: string, limits: ReleaseLimits): ReleaseManifest {
  const manifest = readManifest(text)
  if (!manifest) throw bundleInvalid(`${releasePaths.manifest} is damaged, or of another version.`, deployAgain)
  const { files, git } = manifest
  if (files.length > limits.files) {
    throw bundleInvalid(`The release has ${files.length} files, at most ${limits.files}.`, fewerAssets)
  }
  for (const file of files) judgeFile(file)
  if (git && !isCommit(git)) {
    throw bundleInvalid(`${releasePaths.manifest} names no commit of git.`, deployAgain)
  }
  for (const path of [releasePaths.code, releasePaths.map]) {
    if (!files.some((file) => file.path === path)) throw bundleInvalid(`The archive has no ${path}.`, deployAgain)
  }
  judgeCollisions(files)
  judgeSizes(files, limits)
  return manifest
}

const fewerAssets = 'Keep files that no request needs out of the project folder, or raise the limit of the host.'

function judgeFile({ path, bytes, sha256 }: ReleaseFile): void {
  const fault = pathFault(path)
  if (fault !== null) throw bundleInvalid(`The path ${quoted(path)} ${fault}.`, 'Rename the file, and deploy again.')
  if (!Number.isSafeInteger(bytes) || bytes < 0 || !/^[0-9a-f]{64}$/.test(sha256)) {
    throw bundleInvalid(`${quoted(path)} has no size or digest in ${releasePaths.manifest}.`, deployAgain)
  }
}

function judgeCollisions(files: readonly ReleaseFile[]): void {
  const collision = pathCollision(files.map(({ path }) => path))
  if (!collision) return
  const [first, second] = collision.map(quoted)
  throw bundleInvalid(`${first} and ${second} are the same path on some systems.`, 'Rename one of them.')
}

function judgeSizes(files: readonly ReleaseFile[], limits: ReleaseLimits): void {
  const { code, assets } = releaseSizes(files)
  if (code > limits.code) {
    const cure = 'Import less, or raise limits.code of the host.'
    throw bundleInvalid(`The bundle and its map have ${code} bytes, at most ${limits.code}.`, cure)
  }
  if (assets > limits.assets) {
    const [largest] = [...files].filter(isAsset).sort((one, other) => other.bytes - one.bytes)
    const fault = `The assets have ${assets} bytes, at most ${limits.assets}; the largest is ${quoted(largest?.path ?? '')}.`
    throw bundleInvalid(fault, fewerAssets)
  }
}

function isAsset({ path }: ReleaseFile): boolean {
  return path.startsWith(releasePaths.assets)
}

function isCommit({ hash, branch }: ReleaseCommit): boolean {
  return isCommitHash(hash) && (branch === null || /^[^\p{Cc}\p{Cf}\p{Cs}]{1,255}$/u.test(branch))
}
