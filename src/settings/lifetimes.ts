/**
 * The most that `accessTokenLifetime` may be in any process. What ends access tokens is kept in the store for as long, since the
 * process that ends them may be set otherwise than the one that signed them or those that accept them.
 */
export const longestAccessTokenSeconds = 24 * 60 * 60
