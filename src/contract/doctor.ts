import { z } from 'zod'
import { defineOperations } from './operation.js'

export const doctor = defineOperations({
  read: {
    method: 'GET',
    path: '/doctor',
    body: null,
    who: 'admin',
    command: 'doctor',
    summary: 'Runs the checks of the server, at most once a minute, and shows what they found.',
    answers: {
      200: z.object({
        checkedAt: z.string().describe('When the checks ran. Readers within a minute get the same run.'),
        checks: z.array(
          z.object({
            code: z.string(),
            ok: z.boolean().describe('False exactly when there is a finding.'),
            level: z.enum(['warn', 'error']),
            finding: z.string().nullable(),
            cause: z.string().nullable(),
            cure: z.string().nullable(),
            skipped: z.string().nullable().describe('Why the check was not made.'),
          }),
        ),
      }),
    },
  },
  echo: {
    method: 'GET',
    path: '/doctor/echo',
    body: null,
    who: 'admin',
    command: 'doctor',
    summary: 'Shows how the request arrived, and sets a test cookie. The tool may prove itself instead of signing in.',
    answers: {
      200: z.object({
        installationId: z.string(),
        baseUrl: z.string(),
        ip: z.string().nullable(),
        fromTrustedProxy: z.boolean(),
        scheme: z.enum(['http', 'https']).nullable(),
        host: z.string().nullable(),
        headers: z.record(z.string(), z.string()).describe('Forwarding headers as they arrived.'),
        trustedProxies: z.enum(['none', 'count', 'networks']),
        cookie: z.string().describe('The Set-Cookie line of the test cookie as it was sent.'),
      }),
    },
  },
})
