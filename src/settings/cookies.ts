import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { z } from 'zod'
import { orNull, text } from './field.js'

const domain = text('must be a domain of two or more labels, such as example.com', (value) => {
  const ascii = domainToASCII(value.replace(/^\./, '')).toLowerCase()
  const labels = ascii.split('.')
  const sound = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  return sound && isIP(ascii) === 0 ? ascii : null
})

export const cookies = z.strictObject({
  sameSite: z.enum(['lax', 'strict', 'none']).default('lax'),
  domain: orNull(domain),
  secure: orNull(z.boolean()),
  partitioned: z.boolean().default(false),
  suffix: text('must be at most 32 letters, digits, hyphens and underscores', (value) =>
    /^[A-Za-z0-9_-]{0,32}$/.test(value) ? value : null,
  ).default(''),
})
