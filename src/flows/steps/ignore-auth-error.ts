import { AuthError } from '../../errors.js'

/**
 * For the last steps of a sign-in. The session is open, but its tokens are not sent yet. A failure of a further step must not
 * withhold them.
 */
export async function ignoreAuthError<Result>(step: Promise<Result>, otherwise: Result): Promise<Result> {
  return step.catch((error: unknown) => {
    if (error instanceof AuthError) return otherwise
    throw error
  })
}
