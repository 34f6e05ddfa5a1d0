import { hash } from 'bcryptjs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SignedIn } from '../../../src/testing.js'
import { ada, testAuth } from '../../support/auth.js'

/** A schema whose output it would not take as input. */
const tagList = () => z.string().transform((text) => text.split(' '))

describe('extra fields that the application has imported are kept', () => {
  const imported = { customerId: 'C-17', blocked: true, tags: ['a', 'b'] }
  const city = z.string().max(10).optional()
  async function importedUser(fields?: z.ZodType) {
    const { auth, client } = await testAuth({ registration: fields === undefined ? {} : { fields } })
    const passwordHash = await hash(ada.password, 4)
    await auth.users.import([
      { email: ada.email, emailVerified: true, passwordHash, fields: { company: 'A', ...imported } },
    ])
    const browser = client()
    await browser.signIn(ada)
    return {
      patch: (input: object) => browser.patch('/auth/me', input),
      user: async () => (await browser.get<SignedIn>('/auth/me')).body.user,
    }
  }

  it('where a client may set none', async () => {
    const { patch, user } = await importedUser()
    expect((await patch({ x: 1, blocked: false })).status).toBe(200)
    expect(await user()).toMatchObject({ company: 'A', ...imported })
    expect(await user()).not.toHaveProperty('x')
  })

  it.each([
    ['knows others only', z.object({ company: z.string(), city })],
    ['is strict', z.strictObject({ company: z.string(), city })],
    ['makes something else of one', z.strictObject({ company: z.string(), city, tags: tagList().optional() })],
    ['has a default for one', z.object({ company: z.string(), city, tags: tagList().default([]) })],
  ])('where the schema %s', async (_what, schema) => {
    const { patch, user } = await importedUser(schema)
    expect((await patch({ city: 'London' })).status).toBe(200)
    expect(await user()).toMatchObject({ company: 'A', city: 'London', ...imported })
    expect((await patch({ company: 'B' })).status).toBe(200)
    expect(await user()).toMatchObject({ company: 'B', city: 'London', ...imported })
  })

  it.each([
    ['is not strict', z.object({ company: z.string(), city }), 200],
    ['is strict', z.strictObject({ company: z.string(), city }), 400],
  ] as const)('from a client that names them, where the schema %s', async (_what, schema, status) => {
    const { patch, user } = await importedUser(schema)
    expect((await patch({ city: 'London', blocked: false, customerId: 'C-1' })).status).toBe(status)
    expect(await user()).toMatchObject(imported)
    expect(await patch({ city: 'Llanfairpwllgwyngyll' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'city' }] },
    })
  })

  it('as they are, where the schema would make something else of them each time', async () => {
    const tag = z.string().transform((text) => `#${text}`)
    const { patch, user } = await importedUser(z.object({ company: tag, city: tag.optional() }))
    expect((await patch({ city: 'London' })).status).toBe(200)
    expect((await patch({ company: 'B' })).status).toBe(200)
    expect(await user()).toMatchObject({ company: '#B', city: '#London', ...imported })
  })

  it('and rules between what is sent and what is stored hold', async () => {
    const seats = z.strictObject({ company: z.string().optional(), seats: z.number().optional() })
    const { patch, user } = await importedUser(
      seats.refine(({ company, seats = 0 }) => company !== 'A' || seats < 10, { message: 'too many', path: ['seats'] }),
    )
    expect(await patch({ seats: 10 })).toMatchObject({ status: 400, body: { errors: [{ path: 'seats' }] } })
    expect((await patch({ seats: 9 })).status).toBe(200)
    expect(await user()).toMatchObject({ company: 'A', seats: 9, ...imported })
  })
})
