import { defineCommand } from '../command.js'
import type { MailLine } from '../home.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { shortTime } from './units.js'

const columns: Columns<MailLine> = {
  ID: ({ id }) => id,
  MAIL: ({ template }) => template,
  DOMAIN: ({ domain }) => domain,
  STATE: ({ state }) => state,
  TRIES: ({ attempts }) => attempts,
  'NEXT TRY': ({ nextAt }) => shortTime(nextAt, ''),
  'LAST REASON': ({ lastReason }) => lastReason,
}

export const mail = defineCommand({
  example: 'latchkey mail',
  options: [...listOptions, ['--state <state>', 'Only mail in this state, as the table shows it']],
  async run({ output, remoteHome }, { limit, cursor, ...filter }) {
    const query = { ...pageInput({ limit, cursor }), ...filter }
    printPage(output, await (await remoteHome()).listMail(query), columns)
  },
})

export const retryMail = defineCommand({
  example: 'latchkey mail retry 0zRC4w1Yh6eTqv9bX2kLmA',
  arguments: [['<id>', 'as latchkey mail prints it']],
  async run({ output, remoteHomeToChange }, id) {
    await (await remoteHomeToChange()).retryMail(id)
    output.result({ id, retried: true }, ['The mail is sent again now.'])
  },
})

export const dropMail = defineCommand({
  example: 'latchkey mail drop 0zRC4w1Yh6eTqv9bX2kLmA',
  arguments: [['<id>', 'as latchkey mail prints it']],
  async run({ output, prompts, remoteHomeToChange }, id) {
    const home = await remoteHomeToChange()
    await prompts.agree('The mail is never sent then.')
    await home.dropMail(id)
    output.result({ id, dropped: true }, ['The mail is dropped.'])
  },
})
