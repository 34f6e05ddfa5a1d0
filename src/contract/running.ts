import { z } from 'zod'
import { defineOperations } from './operation.js'

export const running = defineOperations({
  settings: {
    method: 'GET',
    path: '/settings',
    body: null,
    who: 'admin',
    summary: 'Shows the effective settings. Of secrets it shows only whether they are set.',
    answers: { 200: z.looseObject({ baseUrl: z.string(), basePath: z.string() }) },
  },
  health: {
    method: 'GET',
    path: '/health',
    body: null,
    who: 'member',
    summary: 'Shows the state of the process and its store, as auth.health() does.',
    answers: { 200: z.looseObject({ status: z.enum(['ok', 'degraded', 'down']) }) },
  },
  templates: {
    method: 'GET',
    path: '/templates',
    body: null,
    who: 'admin',
    summary: 'Lists the pages and mails that have samples, and the languages.',
    answers: {
      200: z.object({
        templates: z.array(z.object({ kind: z.enum(['pages', 'mail']), name: z.string() })),
        locales: z.array(z.string()),
      }),
    },
  },
  template: {
    method: 'GET',
    path: '/templates/:kind/:name',
    body: null,
    who: 'admin',
    summary: 'Shows a page or mail with sample values.',
    query: { locale: 'One of the listed languages. Default: the one of the settings.' },
    answers: {
      200: z.object({
        html: z.string(),
        subject: z.string().optional().describe('Of a mail.'),
        text: z.string().optional().describe('Of a mail.'),
      }),
    },
    errors: ['not_found'],
  },
})
