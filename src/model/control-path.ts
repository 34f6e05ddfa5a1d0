/** Below `basePath`: where the control API begins. */
export const controlPath = '/admin/api'

/** In the host, below the control API and below the admin pages: where what concerns one space begins. */
export const spacePath = '/spaces/:space'
