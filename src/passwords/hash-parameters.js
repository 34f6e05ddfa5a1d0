/**
 * A recipe in the words of the functions that compute it. Plain JS, because the worker of the hash pool imports it and
 * has to start unbuilt.
 */

/** @param {import('./recipe.js').Argon2idRecipe} recipe */
export function argon2Parameters({ salt, memoryKiB, passes, parallelism, bytes }) {
  return {
    salt: Buffer.from(salt, 'base64'),
    memoryCost: memoryKiB,
    timeCost: passes,
    parallelism,
    outputLen: bytes,
    // Argon2id, version 19: the package tells them by enums that have no values at run time.
    algorithm: 2,
    version: 1,
  }
}

/** @param {import('./recipe.js').ScryptRecipe} recipe */
export function scryptParameters({ cost, blockSize, parallelization }) {
  // Node refuses more than 32 MiB unless told; what is too much for us was refused when the hash was read.
  return { N: cost, r: blockSize, p: parallelization, maxmem: 256 * 1024 * 1024 }
}
