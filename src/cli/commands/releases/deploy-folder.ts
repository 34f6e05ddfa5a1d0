import { resolve } from 'node:path'
import { realMonotonic } from '../../../lib/runtime.js'
import { hasChanges } from '../../bundle/changes.js'
import { makeRelease } from '../../bundle/make-release.js'
import type { DeployStep } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { seconds, size } from '../sizes.js'
import { explained } from './release-failure.js'
import { showSteps, startedAt } from './report.js'
import { upload } from './upload.js'

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
