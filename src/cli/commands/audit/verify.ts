import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

export const example = 'latchkey audit verify'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, home } = open()
    const verdict = await (await home()).verifyAudit()
    if (!verdict.ok) {
      const at = verdict.brokenAt === null ? 'no event is left' : `at the event ${verdict.brokenAt}`
      throw new ToolError(1, 'audit_broken', `The audit log is broken: ${at}.`)
    }
    output.result(verdict, ['The audit log is unbroken.'])
  })
}
