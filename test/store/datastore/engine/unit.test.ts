import { expect, onTestFinished, test } from 'vitest'
import { openDatastoreStore } from '../../../../src/store/datastore/store.js'
import { aMail, aRegistration, now } from '../../../contracts/store/rows.js'
import { temporaryFolder } from '../../../support/databases.js'
import { datastoreOptions } from '../../../support/datastores.js'
import { createPersistentDatastore } from '../../../support/persistent-datastore.js'

test('a document is asked for by the field of its key, which has an index', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const platform = createPersistentDatastore({ file: `${folder.path}/datastore.db` })
  onTestFinished(() => platform.close())
  const asked: string[] = []
  const datastore = {
    async open() {
      const connection = await platform.open()
      const getMany: typeof connection.getMany = (collection, query, options) => {
        asked.push(...Object.keys(query ?? {}))
        return connection.getMany(collection, query, options)
      }
      return { ...connection, getMany }
    },
  }
  const store = await openDatastoreStore({ ...datastoreOptions({ now: () => now * 1_000 }), datastore })
  onTestFinished(() => store.close())
  const token = aRegistration('ada@example.com')
  const mail = aMail()
  await store.oneTimeTokens.put(token, mail, { keep: 1, now })
  asked.length = 0
  expect(await store.oneTimeTokens.countTry(token.id, 1)).toBe(true)
  expect(await store.oneTimeTokens.claim(token.id, 'registration', 'otp', now)).toBe(true)
  expect(await store.outbox.find(mail.id)).toMatchObject({ id: mail.id })
  expect(asked).toContain('key')
  expect(asked).not.toContain('id')
})
