import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findLostGenerations, moveLostGenerations } from '../../../src/host/folder/generation-files.js'

test('ATK-202 a move that was interrupted goes on into the same folder, and a second loss gets its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-lost-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const own = join(folder, 'a')
  const write = (...names: string[]) => Promise.all(names.map((name) => writeFile(join(own, name), name)))
  const lost = (name: string) => readdir(join(own, 'lost', name))
  const move = () => moveLostGenerations(folder, [{ id: 'a', generation: 1 }])
  await mkdir(own)
  await write('g1.db', 'g1.db-wal')
  expect([await move(), await findLostGenerations(folder)]).toEqual([[], []])

  // As a crash leaves it after the first file.
  await mkdir(join(own, 'lost', 'g2'), { recursive: true })
  await writeFile(join(own, 'lost', 'g2', 'g2.db'), 'g2.db')
  await write('g2.db-wal', 'g2.db-shm', 'g12.db')
  expect(await move()).toEqual(['a'])
  expect(await lost('g2')).toEqual(['g2.db', 'g2.db-shm', 'g2.db-wal'])
  expect(await lost('g12')).toEqual(['g12.db'])
  expect((await readdir(own)).sort()).toEqual(['g1.db', 'g1.db-wal', 'lost'])

  await write('g2.db', 'g2.db-wal')
  await move()
  expect(await lost('g2-2')).toEqual(['g2.db', 'g2.db-wal'])
  expect(await findLostGenerations(folder)).toEqual([join(own, 'lost')])
})

test('the generation that an undo took back is kept, though it is newer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-lost-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'a'))
  for (const name of ['g1.db', 'g2.db', 'g3.db']) await writeFile(join(folder, 'a', name), name)
  expect(await moveLostGenerations(folder, [{ id: 'a', generation: 1, former: 2 }])).toEqual(['a'])
  expect((await readdir(join(folder, 'a'))).toSorted()).toEqual(['g1.db', 'g2.db', 'lost'])
})
