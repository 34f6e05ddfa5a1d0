import { newSecret } from '../../lib/random.js'
import { defineCommand } from '../command.js'
import { examineHere, examineRemotely } from '../doctor/examine.js'
import { showReport } from '../doctor/show-report.js'
import { ToolError } from '../tool-error.js'

export const init = defineCommand({
  example: 'latchkey init --yes',
  async run({ environment, output, prompts }) {
    const [{ openProject }, { planInit }, { diffOf }, { nextSteps }, { writeChanges }] = await Promise.all([
      import('../init/project.js'),
      import('../init/plan.js'),
      import('../init/diff.js'),
      import('../init/next-steps.js'),
      import('../init/write-changes.js'),
    ])
    const nodeVersion = process.versions.node
    const plan = planInit(openProject(environment.folder), { nodeVersion, createSecret: newSecret })
    if (plan.outcome === 'refused') throw new ToolError(plan.exitCode, 'cannot_install', plan.sentence)
    if (plan.outcome === 'present') {
      output.result({ written: [], next: [] }, [plan.sentence])
      return
    }

    const { changes, paste } = plan
    for (const line of diffOf(changes)) output.note(line)
    const question = `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`}?`
    if (changes.length > 0 && !(await prompts.confirm(question))) {
      throw new ToolError(1, 'declined', 'Nothing was changed.')
    }
    writeChanges(environment.folder, changes)
    const next = nextSteps(plan, nodeVersion)
    const lines =
      paste === null ? [] : [`${paste.reason} Add these lines yourself:`, ...paste.lines.map((line) => `  ${line}`)]
    output.result({ written: changes.map(({ path }) => path), paste, next }, [...lines, ...next])
    if (paste !== null) throw new ToolError(6, 'lines_to_add', 'The application does not call Latchkey yet.')
  },
})

export const doctor = defineCommand({
  example: 'latchkey doctor',
  async run({ output, place, examined, remoteHome }) {
    const isLocal = place().mode === 'local'
    showReport(output, await (isLocal ? examineHere(await examined()) : examineRemotely(await remoteHome())))
  },
})
