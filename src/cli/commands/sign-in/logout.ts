import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

export const example = 'latchkey logout https://api.example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('[url]', 'of the application').action(async (url: string | undefined) => {
    const { output, account } = open()
    const signedIn = await account()
    const address = signedIn.address(url)
    const ended = await signedIn.signOut(address)
    output.result({ url: address.site, ended }, [`Signed out of ${address.site}`])
    if (!ended) {
      throw new ToolError(
        6,
        'session_not_ended',
        'The sign-in is removed here, but the server did not end its session.',
      )
    }
  })
}
