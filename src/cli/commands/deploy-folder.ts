import { resolve } from 'node:path'
import { realMonotonic } from '../../lib/runtime.js'
import { hasChanges } from '../bundle/changes.js'
import { type MadeRelease, makeRelease } from '../bundle/make-release.js'
import type { Deployed, DeployStep, HostHome } from '../host-home.js'
import { startProgress } from '../progress.js'
import type { Tool } from '../tool.js'
import { explained, showSteps, startedAt } from './release-report.js'
import { seconds, size } from './units.js'

/** Bundles a folder, uploads it, and waits until it serves. */
export async function deployFolder(
  tool: Tool,
  { dir, main, wait }: { dir: string; main: string | null; wait: boolean },
): Promise<void> {
  const { environment, output } = tool
  const began = realMonotonic()
  const host = await tool.hostHomeToChange()
  const place = await startedAt(tool, host)
  const folder = resolve(environment.folder, dir)
  const made = await makeRelease({ folder, main, homeFolder: environment.homeFolder })
  const dirty = made.manifest.git && (await hasChanges(folder, environment.variables))
  const others = made.modules === 1 ? '' : ` + ${made.modules - 1} modules`
  const bundled = realMonotonic() - began
  output.line(` bundled   ${made.entry}${others} → ${size(made.codeBytes)} in ${seconds(bundled)}`)
  if (made.packagesFrom) {
    const { folder: from, sign } = made.packagesFrom
    output.line(` packages  are taken from ${from} (${sign})`)
  }
  for (const warning of made.warnings) output.note(`warning: ${warning}`)

  const steps: DeployStep[] = []
  const deployed = await upload(tool, host, { made, dirty, wait, steps }).catch((error: unknown) =>
    explained(error, host, place),
  )
  const isUploaded = steps.some(({ step }) => step === 'uploaded')
  if (isUploaded || wait) output.line(` uploaded  ${size(made.archive.length)}`)
  for (const warning of deployed.warnings) output.note(`warning: ${warning}`)
  const { release } = deployed
  const value = {
    release,
    url: place.url,
    warnings: [...made.warnings, ...deployed.warnings],
    ms: Math.round(realMonotonic() - began),
  }
  if (release === null) {
    output.result(value, ['The host starts it now. How it ends: latchkey deploy --history'])
    return
  }
  showSteps(output, { release, steps, place })
  output.result(value, ['Deployed Codehook successfully!'])
}

/** Uploads a release with its progress on stderr, and adds each step of the host to `steps`. */
async function upload(
  { environment, output }: Tool,
  host: HostHome,
  { made, dirty, wait, steps }: { made: MadeRelease; dirty: boolean | null; wait: boolean; steps: DeployStep[] },
): Promise<Deployed> {
  const { archive, manifest } = made
  const total = size(archive.length)
  const progress = await startProgress(environment, `Uploading ${total}`, output.json)
  try {
    return await host.deploy({
      archive,
      git: manifest.git && { ...manifest.git, dirty },
      wait,
      onSent: (bytes) =>
        progress.step(bytes < archive.length ? `Uploading ${size(bytes)} of ${total}` : 'Starting the release'),
      onStep: (step) => steps.push(step),
    })
  } finally {
    progress.stop()
  }
}
