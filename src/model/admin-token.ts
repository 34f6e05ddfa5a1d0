/** A public id, then 128 random bits. */
export const adminTokenText = /^[0-9a-f]{16}-[0-9a-f]{32}$/

/** The purpose that digests of admin tokens are bound to. */
export const adminTokenPurpose = 'admin-token'

/** How long a process may use its copy of an admin token before it reads again. */
export const adminTokenMemorySeconds = 60
