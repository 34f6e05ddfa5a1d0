/** Below `basePath`: where the control API begins. */
export const controlPath = '/admin/api'
