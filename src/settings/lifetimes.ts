/**
 * The upper bound of `accessTokenLifetime`. The store keeps revocations of access tokens this long, because the process that
 * revokes a token may have another `accessTokenLifetime` than the one that signed it.
 */
export const longestAccessTokenSeconds = 24 * 60 * 60
