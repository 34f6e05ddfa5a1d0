import { everyAdminPage, pager, sampleTime } from './every-admin-page.js'
import type { Values } from './values.js'

const actor = { name: 'ada@app.example', text: 'admin.actor.adminToken' }
const place = {
  name: 'dev',
  url: 'https://api.example/dev',
  release: '17',
  stateText: 'admin.space.ready',
  tone: 'on',
  memory: '61 MB',
  requests: '2',
  restarts: '0',
  createdAt: sampleTime,
  busyText: 'admin.space.busy.deploy',
}
const adminToken = {
  id: 'sample',
  start: 'a41f0',
  name: 'pipeline',
  owner: 'deployers',
  isTeam: true,
  maker: 'ada@app.example',
  spaces: 'dev',
  commands: 'deploy',
  networks: '203.0.113.0/24',
  lastDay: '2026-01-31',
  lastNetwork: '192.0.2.0/24',
  createdAt: sampleTime,
  expiresAt: sampleTime,
  over: true,
  left: true,
  action: '/admintokens/sample',
}

/** The values of the pages that only a host has. */
export const hostSamples: Readonly<Record<string, Values>> = {
  'admin/spaces': { ...everyAdminPage, pager, items: [place], kept: '' },
  'admin/space': {
    ...everyAdminPage,
    shown: place,
    busy: { by: 'ada@app.example', since: sampleTime, action: '/spaces/dev/take-over' },
    removeAction: '/spaces/dev',
  },
  'admin/releases': {
    ...everyAdminPage,
    deployed: true,
    items: [
      {
        number: '16',
        hash: '3f9a0c1b2d4e',
        branch: 'main',
        dirty: true,
        size: '312 kB',
        author: actor,
        createdAt: sampleTime,
        stateText: 'admin.releases.failed',
        tone: 'warn',
        fault: 'index.js:3: x is not defined',
        activatable: true,
        action: '/releases/16/activate',
      },
    ],
  },
  'admin/environment': {
    ...everyAdminPage,
    kept: '',
    items: [
      {
        name: 'MAIL_FROM',
        encrypted: false,
        version: '3',
        setAt: sampleTime,
        setBy: actor,
        value: 'hello@app.example',
        action: '/env/MAIL_FROM',
      },
    ],
  },
  'admin/logs': {
    ...everyAdminPage,
    lines: [{ at: sampleTime, level: 'info', text: 'started' }],
    shortened: true,
    levels: [{ value: 'error', text: 'admin.logs.error', selected: true }],
    followQuery: 'follow=true',
  },
  'admin/collections': {
    ...everyAdminPage,
    items: [{ name: 'orders', count: '12', size: '3 kB', indexes: 'customer, placedAt' }],
  },
  'admin/backups': {
    ...everyAdminPage,
    items: [
      { at: sampleTime, size: '61 MB', sha256: '3f1a'.repeat(16), madeBy: { name: 'ada@app.example', text: '' } },
    ],
  },
  'admin/documents': {
    ...everyAdminPage,
    collection: 'orders',
    asked: { filter: '{"status": "open"}', sort: '' },
    count: '120',
    rows: [{ id: 'a1', version: '3', text: '{"_id":"a1","status":"open"}', filter: '{"_id":"a1"}' }],
    from: '51',
    to: '51',
    previous: '0',
    next: '100',
    editor: { filter: '{"_id":"a1"}', version: '3', text: '{\n  "_id": "a1"\n}', isTooLarge: false },
    fault: { isConflict: false, detail: 'The document is no JSON.' },
    indexForm: { fields: 'customer, total', isUnique: true, refused: 'No unique index on customer.' },
    saved: true,
    indexes: [{ field: 'customer', isUnique: true, isBuilding: true }],
    exportPath: '/collections/orders/export?download=true',
    queryCommand: 'query orders',
    queryAction: '/collections/orders/query',
    indexAction: '/collections/orders/indexes',
  },
  'admin/project': {
    ...everyAdminPage,
    users: [
      {
        id: 'sample',
        email: 'ada@app.example',
        name: 'Ada Lovelace',
        right: 'MEMBER',
        isMember: true,
        inForce: 'ADMIN',
        teams: 'deployers',
        action: '/project/users/sample',
      },
    ],
    teams: [
      {
        id: 'sample-team',
        name: 'deployers',
        right: 'ADMIN',
        isMember: false,
        members: [{ id: 'sample', email: 'ada@app.example', name: 'Ada', action: '/teams/sample-team/members/sample' }],
        action: '/teams/sample-team',
        addAction: '/teams/sample-team/members',
      },
    ],
    kept: { email: '', isAdmin: true, name: '' },
  },
  'admin/admin-tokens': {
    ...everyAdminPage,
    items: [adminToken],
    left: [adminToken],
    owners: [{ value: 'sample', name: 'deployers', selected: true }],
    commands: 'deploy, undeploy',
    kept: { name: '', expiresAt: '', cidrs: '', spaces: '', commands: '', more: true },
  },
}
