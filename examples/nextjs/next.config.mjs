// next.config.mjs
export default {
  serverExternalPackages: ['latchkey'],
}
