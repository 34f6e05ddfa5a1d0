import { z } from 'zod'

/** Body fields of several routes. The lengths only stop abuse. The real rules are in the flows. */
export const passwordField = z.string().min(1).max(1024).describe('The password of the account.')
/** For routes that also serve accounts without a password, whose forms send an empty field. */
export const passwordBody = z.object({
  password: z
    .union([z.literal(''), passwordField])
    .optional()
    .describe('The password. An account without one needs a sign-in of the last five minutes instead.'),
})
export const codeField = z.string().min(4).max(12).describe('The code of the mail.')
/** Leaves room for the spaces and dashes that users type. */
export const factorCodeField = z.string().min(1).max(32).describe('A code of the authenticator app, or a backup code.')
export const tokenField = z.string().min(1).max(128).describe('The token of the link in the mail.')
export const transactionField = z
  .string()
  .min(1)
  .max(128)
  .describe('In token mode: `transaction` of the earlier answer.')
