import type { Values } from './values.js'

/** What the reference page shows of a field. */
const field = { name: 'email', type: 'string', optional: true, about: 'As typed.' }
const shape = { fields: [field], open: false, other: false, see: '' }

/** The values of the pages that exist in development only. */
export const developmentSamples: Readonly<Record<string, Values>> = Object.freeze({
  'pages/reference': {
    documentUrl: '/auth/openapi.json',
    groups: [
      {
        id: 'group-sign-in',
        name: 'Sign-in',
        about: 'Sign in by password.',
        operations: [
          {
            id: 'postLogin',
            method: 'POST',
            path: '/auth/login',
            summary: 'Signs in.',
            description: 'The same as another.',
            signedIn: true,
            parameters: [{ ...field, place: 'header' }],
            body: [{ ...shape, open: true }],
            answers: [
              { status: '200', about: 'Done.', shapes: [shape, { ...shape, fields: [], other: true, see: 'User' }] },
            ],
            refusals: [{ status: '401', codes: ['invalid_credentials', 'token_expired'] }],
          },
        ],
      },
    ],
    schemas: [{ name: 'User', about: 'An account.', shapes: [shape] }],
  },
  'pages/mailbox': {
    samples: false,
    address: '/auth/dev/mailbox?key=sample',
    chosen: true,
    mails: [
      {
        id: 'sample',
        to: 'ada@app.example',
        subject: 'Sample',
        at: '2026-01-31T12:00:00.000Z',
        time: 'Jan 31, 2026, 12:00:00 PM',
        current: true,
      },
    ],
    mail: {
      to: 'ada@app.example',
      subject: 'Sample',
      at: '2026-01-31T12:00:00.000Z',
      time: 'Jan 31, 2026, 12:00:00 PM',
      text: 'Open https://app.example/ or enter\n\n123456\n',
      html: '<p>See above</p>',
      purpose: '',
      minutes: '12',
    },
  },
})
