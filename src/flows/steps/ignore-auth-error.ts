import { AuthError } from '../../errors.js'

/**
 * For the last steps of a sign-in. The session is open and nobody holds it until its tokens are given out: what is missing
 * besides must not keep them back.
 */
export async function ignoreAuthError<Result>(step: Promise<Result>, otherwise: Result): Promise<Result> {
  return step.catch((error: unknown) => {
    if (error instanceof AuthError) return otherwise
    throw error
  })
}
