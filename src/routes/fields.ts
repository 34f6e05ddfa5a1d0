import { z } from 'zod'

/** Body fields that several routes share. Lengths are bounds against abuse; the rules are in the flows. */
export const emailField = z.string().max(320)
export const passwordField = z.string().min(1).max(1024)
/** Where an account may have none to ask for: an empty field of a form is none. */
export const passwordBody = z.object({ password: z.union([z.literal(''), passwordField]).optional() })
export const codeField = z.string().min(4).max(12)
/** Of an authenticator, or a backup code, with the blanks and dashes that people put in. */
export const factorCodeField = z.string().min(1).max(32)
export const tokenField = z.string().min(1).max(128)
export const transactionField = z.string().min(1).max(128)

/** Shown on pages and in mails: no control characters, one line. */
export const nameField = z
  .string()
  .max(100)
  .refine((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), 'must be one line of text')
  .transform((name) => name.trim() || null)
