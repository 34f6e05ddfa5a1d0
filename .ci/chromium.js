// Where a Chromium stands on this machine: for the browser suite, which needs a real one.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'

// The first is Chromium without the window around the pages, which starts and draws in half the time.
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Path of the first Chromium on PATH, or null. */
export function findChromium(searchPath = process.env.PATH ?? '') {
  const candidates = searchPath.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return candidates.find(isExecutable) ?? null
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// As a program: prints the path, or exits with 1.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = findChromium()
  if (found) console.log(found)
  else process.exitCode = 1
}
