import { z } from 'zod'
import { flagField, optionalText, time } from './fields.js'
import { defineOperations } from './operation.js'

const userCode = z.string().min(1).max(32).describe('The code that the tool shows.')

export const device = defineOperations({
  ask: {
    method: 'POST',
    path: '/device',
    body: z.strictObject({
      challenge: z.string().max(64).describe('base64url SHA-256 of the verifier.'),
      client: z.string().max(64).describe('The host name of the machine.'),
    }),
    who: 'open',
    command: 'login',
    summary: 'Begins a sign-in of the command-line tool, which an administrator approves.',
    answers: {
      201: z.object({
        handle: z.string(),
        userCode: z.string(),
        url: z.string().describe('The page where an administrator types the code.'),
        interval: z.number().describe('Seconds between two requests for the session.'),
        expiresAt: time('When the code expires.'),
      }),
    },
  },
  claim: {
    method: 'POST',
    path: '/device/token',
    body: z.strictObject({ handle: z.string().max(128), verifier: z.string().max(128) }),
    who: 'open',
    command: 'login',
    summary: 'Gives the tool its session once an administrator has approved it.',
    errors: ['invalid_token'],
  },
  lookUp: {
    method: 'POST',
    path: '/device/lookup',
    body: z.strictObject({ userCode }),
    who: 'member',
    recent: true,
    summary: 'Shows which machine asks to sign in with a code.',
    answers: {
      200: z.object({
        client: z.string(),
        ip: z.string().nullable(),
        userAgent: z.string().nullable(),
        askedAt: time('When the tool asked.'),
        sameNetwork: z.boolean().describe('Whether the tool asked from the network of this request.'),
      }),
    },
    errors: ['invalid_token'],
  },
  answer: {
    method: 'POST',
    path: '/device/answer',
    body: z.strictObject({
      userCode,
      approve: flagField,
      client: optionalText.describe('The host name, where the tool asked from another network.'),
    }),
    who: 'member',
    recent: true,
    summary: 'Approves or denies the sign-in of the tool.',
    answers: { 204: null },
    errors: ['invalid_token'],
  },
})
