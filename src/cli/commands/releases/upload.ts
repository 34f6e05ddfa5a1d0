import type { MadeRelease } from '../../bundle/make-release.js'
import type { Deployed, DeployStep, HostHome } from '../../host-home.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { size } from '../sizes.js'

/** Uploads a release with its progress on stderr, and adds each step of the host to `steps`. */
export async function upload(
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
