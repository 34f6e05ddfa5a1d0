/** Cookies as one browser holds them; a copy is a second tab that has not heard of later answers. */
export function createJar(cookies = new Map()) {
  return {
    get: (short) => [...cookies].find(([name]) => name.endsWith(short))?.[1],
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    take(setCookies) {
      for (const line of setCookies) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
        if (value === '' || /max-age=0\b/i.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
    },
    copy: () => createJar(new Map(cookies)),
    /** Forgets all but the device: whoever signs in again here comes from no new one. */
    signOut() {
      for (const name of [...cookies.keys()]) if (!name.endsWith('known-device')) cookies.delete(name)
    },
  }
}
