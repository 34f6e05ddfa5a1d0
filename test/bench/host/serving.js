// `latchkey serve` in a folder of its own, set up, with an administrator's cookies.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { pack } from 'tar-stream'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const administrator = { email: 'ann@example.com', password: 'a difference engine of brass' }

/**
 * An application as a deploy sends it, and its bundle as a file.
 *
 * @param define constants of the application, as esbuild takes them
 */
export async function bundled(folder, entry = new URL('application.js', import.meta.url), define = {}) {
  const outfile = join(folder, 'bundle.mjs')
  await build({
    entryPoints: [fileURLToPath(entry)],
    define,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    sourcemap: 'linked',
    nodePaths: [join(root, 'node_modules')],
    banner: { js: "import { createRequire } from 'node:module'; var require = createRequire(import.meta.url);" },
  })
  return { file: outfile, archive: await archiveOf(outfile) }
}

async function archiveOf(outfile) {
  const contents = { 'bundle.mjs': readFileSync(outfile), 'bundle.mjs.map': readFileSync(`${outfile}.map`) }
  const files = Object.entries(contents).map(([path, content]) => ({
    path,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }))
  const archive = pack()
  archive.entry({ name: 'release.json' }, JSON.stringify({ format: 1, tool: '1.0.0', git: null, files }))
  for (const [name, content] of Object.entries(contents)) archive.entry({ name }, content)
  archive.finalize()
  return gzipSync(await buffer(archive))
}

export async function openHost(limits = {}) {
  const place = await prepareHost({ limits })
  const child = startHost(place.folder)
  await printed(child, 'is served at')
  const { call, deploy } = await setUp(place)
  return {
    ...{ baseUrl: place.baseUrl, folder: place.folder, pid: child.pid, call, deploy },
    /** A space with the application, and the header that lets one in. */
    async space(name, archive) {
      await call('POST', '/spaces', { name })
      await deploy(name, archive)
      const { token } = await call('POST', `/spaces/${name}/tokens`, { name: 'bench' })
      return { url: `${place.baseUrl}/${name}`, headers: { 'x-apikey': token } }
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => {
          rmSync(place.folder, { recursive: true, force: true })
          resolve()
        })
        child.kill('SIGTERM')
      }),
  }
}

/** A folder with the settings of a host, which nothing serves yet. */
export async function prepareHost(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const [front, admin] = [await freePort(), await freePort()]
  const [baseUrl, adminUrl] = [front, admin].map((port) => `http://127.0.0.1:${port}`)
  const sockets = { listen: `127.0.0.1:${front}`, adminListen: `127.0.0.1:${admin}` }
  const auth = { password: { checkBreached: false } }
  writeFileSync(
    join(folder, 'latchkey.host.json'),
    JSON.stringify({ baseUrl, adminUrl, ...sockets, auth, ...settings }),
  )
  return { folder, baseUrl, adminUrl }
}

/** `latchkey serve` in this folder. */
export function startHost(folder, { execArgv = [], env = process.env } = {}) {
  return spawn(process.execPath, [...execArgv, join(root, 'dist/cli.js'), 'serve'], {
    cwd: folder,
    stdio: 'pipe',
    env,
  })
}

/** Makes the first administrator of a host that is served for the first time. Returns its calls of the control API. */
export async function setUp({ folder, adminUrl }) {
  const key = new URL(readFileSync(join(folder, 'latchkey-data/setup-url'), 'utf8').trim()).searchParams.get('key')
  const headers = { origin: adminUrl, 'content-type': 'application/json' }
  const created = await fetch(`${adminUrl}/auth/setup`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key, ...administrator }),
  })
  headers.cookie = created.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')

  async function call(method, path, body, more = {}) {
    const answer = await fetch(`${adminUrl}/auth/admin/api${path}`, {
      method,
      headers: { ...headers, ...more },
      body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? null : JSON.parse(text.trim().split('\n').at(-1))
  }
  return {
    call,
    async deploy(space, archive) {
      const row = await call('POST', `/spaces/${space}/releases`, archive, { 'content-type': 'application/gzip' })
      if (!row?.done) throw new Error(`deploy ${space}: ${JSON.stringify(row)}`)
      return row
    },
  }
}

export function printed(child, wanted) {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (piece) => {
      text += piece
      if (text.includes(wanted)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`latchkey serve ended: ${text}`)))
  })
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
