// Generated from src/contract by .ci/build-contract.js: change the files there, not this one.
import type { ContractTable } from './contract-calls.js'

/** How each operation of the control API is called, and what its answer looks like. */
export const contract: ContractTable = {
  access: {
    read: {"method":"GET","path":"/access","inSpace":true,"answer":{"fields":{"jwksUrl":{"orNull":"text"},"fixedJwksUrl":{"orNull":"text"},"jwksRules":{"orNull":{"fields":{"issuer":{"orNull":"text"},"audience":{"list":"text"},"algorithms":{"list":"text"},"exclusive":"flag"}}},"allowList":{"fields":{"fixed":{"list":"text"},"added":{"list":"text"}}},"you":{"fields":{"ip":{"orNull":"text"},"allowed":"flag"}},"keySet":{"orNull":{"fields":{"ok":"flag","keys":{"list":{"fields":{"kid":{"orNull":"text"},"alg":{"orNull":"text"},"use":{"orNull":"text"}}}},"fault":{"orNull":"text"},"fetchedAt":{"orNull":"text"}}}}}}},
    setKeySet: {"method":"POST","path":"/access/jwks","inSpace":false,"answer":{"fields":{"jwksUrl":{"orNull":"text"},"fixedJwksUrl":{"orNull":"text"},"jwksRules":{"orNull":{"fields":{"issuer":{"orNull":"text"},"audience":{"list":"text"},"algorithms":{"list":"text"},"exclusive":"flag"}}},"allowList":{"fields":{"fixed":{"list":"text"},"added":{"list":"text"}}},"you":{"fields":{"ip":{"orNull":"text"},"allowed":"flag"}},"keySet":{"orNull":{"fields":{"ok":"flag","keys":{"list":{"fields":{"kid":{"orNull":"text"},"alg":{"orNull":"text"},"use":{"orNull":"text"}}}},"fault":{"orNull":"text"},"fetchedAt":{"orNull":"text"}}}}}}},
    setSpaceKeySet: {"method":"POST","path":"/access/jwks","inSpace":true,"answer":{"fields":{"jwksUrl":{"orNull":"text"},"fixedJwksUrl":{"orNull":"text"},"jwksRules":{"orNull":{"fields":{"issuer":{"orNull":"text"},"audience":{"list":"text"},"algorithms":{"list":"text"},"exclusive":"flag"}}},"allowList":{"fields":{"fixed":{"list":"text"},"added":{"list":"text"}}},"you":{"fields":{"ip":{"orNull":"text"},"allowed":"flag"}},"keySet":{"orNull":{"fields":{"ok":"flag","keys":{"list":{"fields":{"kid":{"orNull":"text"},"alg":{"orNull":"text"},"use":{"orNull":"text"}}}},"fault":{"orNull":"text"},"fetchedAt":{"orNull":"text"}}}}}}},
    checkKeySet: {"method":"POST","path":"/access/jwks/check","inSpace":true,"answer":{"fields":{"ok":"flag","keys":{"list":{"fields":{"kid":{"orNull":"text"},"alg":{"orNull":"text"},"use":{"orNull":"text"}}}},"fault":{"orNull":"text"}}}},
    allow: {"method":"POST","path":"/access/networks","inSpace":true,"answer":{"fields":{"jwksUrl":{"orNull":"text"},"fixedJwksUrl":{"orNull":"text"},"jwksRules":{"orNull":{"fields":{"issuer":{"orNull":"text"},"audience":{"list":"text"},"algorithms":{"list":"text"},"exclusive":"flag"}}},"allowList":{"fields":{"fixed":{"list":"text"},"added":{"list":"text"}}},"you":{"fields":{"ip":{"orNull":"text"},"allowed":"flag"}},"keySet":{"orNull":{"fields":{"ok":"flag","keys":{"list":{"fields":{"kid":{"orNull":"text"},"alg":{"orNull":"text"},"use":{"orNull":"text"}}}},"fault":{"orNull":"text"},"fetchedAt":{"orNull":"text"}}}}}}},
    disallow: {"method":"DELETE","path":"/access/networks","inSpace":true,"answer":null},
  },
  adminTokens: {
    list: {"method":"GET","path":"/admintokens","inSpace":false,"answer":{"list":{"fields":{"id":"text","start":"text","name":"text","owner":{"fields":{"kind":"text","id":"text","name":"text"}},"madeBy":{"fields":{"id":"text","email":{"orNull":"text"}}},"spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}},"cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUse":{"orNull":{"fields":{"day":"text","network":{"orNull":"text"}}}}}}}},
    create: {"method":"POST","path":"/admintokens","inSpace":false,"answer":{"fields":{"id":"text","start":"text","name":"text","owner":{"fields":{"kind":"text","id":"text","name":"text"}},"madeBy":{"fields":{"id":"text","email":{"orNull":"text"}}},"spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}},"cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUse":{"orNull":{"fields":{"day":"text","network":{"orNull":"text"}}}},"token":"text"}}},
    removeAll: {"method":"DELETE","path":"/admintokens","inSpace":false,"answer":{"fields":{"removed":"number"}}},
    remove: {"method":"DELETE","path":"/admintokens/:id","inSpace":false,"answer":null},
  },
  apiTokens: {
    list: {"method":"GET","path":"/tokens","inSpace":true,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","name":"text","access":"text","cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUsedAt":{"orNull":"text"},"replacedBy":{"orNull":"text"}}}},"nextCursor":{"orNull":"text"}}}},
    create: {"method":"POST","path":"/tokens","inSpace":true,"answer":{"fields":{"id":"text","name":"text","access":"text","cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUsedAt":{"orNull":"text"},"replacedBy":{"orNull":"text"},"token":"text"}}},
    remove: {"method":"DELETE","path":"/tokens/:id","inSpace":true,"answer":null},
    rotate: {"method":"POST","path":"/tokens/:id/rotate","inSpace":true,"answer":{"fields":{"id":"text","name":"text","access":"text","cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUsedAt":{"orNull":"text"},"replacedBy":{"orNull":"text"},"token":"text"}}},
  },
  audit: {
    list: {"method":"GET","path":"/audit","inSpace":false,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","at":"text","event":"text","outcome":"text","actor":{"orNull":{"fields":{"kind":"text"},"open":true}},"userId":{"orNull":"text"},"sessionId":{"orNull":"text"},"ip":{"orNull":"text"},"userAgent":{"orNull":"text"},"detail":{"map":"fact"}}}},"nextCursor":{"orNull":"text"}}}},
    export: {"method":"GET","path":"/audit.jsonl","inSpace":false,"answer":null},
    verify: {"method":"POST","path":"/audit/verify","inSpace":false,"answer":{"fields":{"ok":"flag","brokenAt":{"orNull":"text"}}}},
  },
  backups: {
    exportCollection: {"method":"GET","path":"/collections/:collection/export","inSpace":true,"answer":null},
    create: {"method":"GET","path":"/backup","inSpace":true,"answer":null},
    restore: {"method":"POST","path":"/restore","inSpace":true,"answer":null},
    undo: {"method":"POST","path":"/restore/undo","inSpace":true,"answer":null},
  },
  collections: {
    list: {"method":"GET","path":"/collections","inSpace":true,"answer":{"list":{"fields":{"name":"text","count":"number","bytes":"number","indexes":{"list":{"fields":{"field":"text","isUnique":"flag","state":"text"}}}}}}},
    query: {"method":"POST","path":"/collections/:c/query","inSpace":true,"answer":null},
    createIndexes: {"method":"POST","path":"/collections/:c/indexes","inSpace":true,"answer":null},
    removeIndexes: {"method":"DELETE","path":"/collections/:c/indexes","inSpace":true,"answer":null},
    import: {"method":"POST","path":"/collections/:c/import","inSpace":true,"answer":null},
  },
  device: {
    ask: {"method":"POST","path":"/device","inSpace":false,"answer":{"fields":{"handle":"text","userCode":"text","url":"text","interval":"number","expiresAt":"text"}}},
    claim: {"method":"POST","path":"/device/token","inSpace":false,"answer":null},
    lookUp: {"method":"POST","path":"/device/lookup","inSpace":false,"answer":{"fields":{"client":"text","ip":{"orNull":"text"},"userAgent":{"orNull":"text"},"askedAt":"text","sameNetwork":"flag"}}},
    answer: {"method":"POST","path":"/device/answer","inSpace":false,"answer":null},
  },
  doctor: {
    read: {"method":"GET","path":"/doctor","inSpace":false,"answer":{"fields":{"checkedAt":"text","checks":{"list":{"fields":{"code":"text","ok":"flag","level":"text","finding":{"orNull":"text"},"cause":{"orNull":"text"},"cure":{"orNull":"text"},"skipped":{"orNull":"text"}}}}}}},
    echo: {"method":"GET","path":"/doctor/echo","inSpace":false,"answer":{"fields":{"installationId":"text","baseUrl":"text","ip":{"orNull":"text"},"fromTrustedProxy":"flag","scheme":{"orNull":"text"},"host":{"orNull":"text"},"headers":{"map":"text"},"trustedProxies":"text","cookie":"text"}}},
  },
  environment: {
    list: {"method":"GET","path":"/env","inSpace":true,"answer":{"fields":{"items":{"list":{"fields":{"name":"text","encrypted":"flag","version":"number","setAt":"text","setBy":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"value":{"orNull":"text"}}}}}}},
    set: {"method":"POST","path":"/env","inSpace":true,"answer":null},
    remove: {"method":"DELETE","path":"/env/:name","inSpace":true,"answer":null},
  },
  home: {
    read: {"method":"GET","path":"","inSpace":false,"answer":{"fields":{"home":"text","version":"text","user":{"orNull":{"fields":{"id":"text","email":"text","name":{"orNull":"text"},"right":"text"}}},"adminToken":{"orNull":{"fields":{"id":"text","name":"text","spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}}}}}}}},
    readHost: {"method":"GET","path":"","inSpace":false,"answer":{"fields":{"home":"text","version":"text","user":{"orNull":{"fields":{"id":"text","email":"text","name":{"orNull":"text"},"right":"text"}}},"adminToken":{"orNull":{"fields":{"id":"text","name":"text","spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}}}}},"project":"text","spaces":{"list":{"fields":{"name":"text","url":"text","release":{"orNull":"number"}}}}}}},
  },
  mail: {
    list: {"method":"GET","path":"/mail","inSpace":false,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","template":"text","domain":"text","state":"text","attempts":"number","nextAt":{"orNull":"text"},"lastReason":{"orNull":"text"}}}},"nextCursor":{"orNull":"text"}}}},
    retry: {"method":"POST","path":"/mail/:id/retry","inSpace":false,"answer":null},
    drop: {"method":"DELETE","path":"/mail/:id","inSpace":false,"answer":null},
  },
  projectUsers: {
    list: {"method":"GET","path":"/project/users","inSpace":false,"answer":{"list":{"fields":{"id":"text","email":"text","name":{"orNull":"text"},"right":{"orNull":"text"},"teams":{"list":{"fields":{"id":"text","name":"text","right":"text"}}},"inForce":{"orNull":"text"}}}}},
    grant: {"method":"POST","path":"/project/users","inSpace":false,"answer":{"fields":{"id":"text","email":"text","name":{"orNull":"text"},"right":{"orNull":"text"},"teams":{"list":{"fields":{"id":"text","name":"text","right":"text"}}},"inForce":{"orNull":"text"}}}},
    change: {"method":"PATCH","path":"/project/users/:id","inSpace":false,"answer":{"fields":{"id":"text","email":"text","name":{"orNull":"text"},"right":{"orNull":"text"},"teams":{"list":{"fields":{"id":"text","name":"text","right":"text"}}},"inForce":{"orNull":"text"}}}},
    remove: {"method":"DELETE","path":"/project/users/:id","inSpace":false,"answer":{"fields":{"tokens":{"list":{"fields":{"id":"text","start":"text","name":"text","owner":{"fields":{"kind":"text","id":"text","name":"text"}},"madeBy":{"fields":{"id":"text","email":{"orNull":"text"}}},"spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}},"cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUse":{"orNull":{"fields":{"day":"text","network":{"orNull":"text"}}}}}}}}},"mayBeEmpty":true},
  },
  releases: {
    list: {"method":"GET","path":"/releases","inSpace":true,"answer":{"fields":{"items":{"list":{"fields":{"number":"number","state":"text","sha256":"text","bytes":"number","git":{"orNull":{"fields":{"hash":"text","branch":{"orNull":"text"}}}},"dirty":{"orNull":"flag"},"tool":"text","author":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"createdAt":"text","fault":{"orNull":"text"}}}}}}},
    undeploy: {"method":"DELETE","path":"/releases/current","inSpace":true,"answer":null},
    deploy: {"method":"POST","path":"/releases","inSpace":true,"answer":null},
    activate: {"method":"POST","path":"/releases/:n/activate","inSpace":true,"answer":null},
    log: {"method":"GET","path":"/logs","inSpace":true,"answer":null},
  },
  running: {
    settings: {"method":"GET","path":"/settings","inSpace":false,"answer":{"fields":{"baseUrl":"text","basePath":"text"},"open":true}},
    health: {"method":"GET","path":"/health","inSpace":false,"answer":{"fields":{"status":"text"},"open":true}},
    templates: {"method":"GET","path":"/templates","inSpace":false,"answer":{"fields":{"templates":{"list":{"fields":{"kind":"text","name":"text"}}},"locales":{"list":"text"}}}},
    template: {"method":"GET","path":"/templates/:kind/:name","inSpace":false,"answer":{"fields":{"html":"text","subject":{"orNull":"text"},"text":{"orNull":"text"}}}},
  },
  sessions: {
    list: {"method":"GET","path":"/sessions","inSpace":false,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","userId":"text","device":"text","ip":{"orNull":"text"},"createdAt":"text","lastSeenAt":"text","expiresAt":"text","actor":{"orNull":{"fields":{"userId":"text"}}},"email":"text"},"open":true}},"nextCursor":{"orNull":"text"}}}},
    end: {"method":"DELETE","path":"/sessions/:id","inSpace":false,"answer":null},
    endAllOfUser: {"method":"DELETE","path":"/users/:id/sessions","inSpace":false,"answer":null},
    endOfUser: {"method":"DELETE","path":"/users/:id/sessions/:sid","inSpace":false,"answer":null},
  },
  spaces: {
    list: {"method":"GET","path":"/spaces","inSpace":false,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","name":"text","url":"text","createdAt":"text","release":{"orNull":"number"},"state":"text","memoryBytes":"number","restarts":"number","requests":"number","busyWith":{"orNull":"text"},"busyBy":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"busySince":{"orNull":"text"}}}},"nextCursor":{"orNull":"text"}}}},
    create: {"method":"POST","path":"/spaces","inSpace":false,"answer":{"fields":{"id":"text","name":"text","url":"text","createdAt":"text","release":{"orNull":"number"},"state":"text","memoryBytes":"number","restarts":"number","requests":"number","busyWith":{"orNull":"text"},"busyBy":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"busySince":{"orNull":"text"}}}},
    read: {"method":"GET","path":"/spaces/:space","inSpace":false,"answer":{"fields":{"id":"text","name":"text","url":"text","createdAt":"text","release":{"orNull":"number"},"state":"text","memoryBytes":"number","restarts":"number","requests":"number","busyWith":{"orNull":"text"},"busyBy":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"busySince":{"orNull":"text"}}}},
    takeOver: {"method":"POST","path":"/spaces/:space/take-over","inSpace":false,"answer":{"fields":{"kind":"text","by":{"orNull":{"fields":{"kind":"text","id":{"orNull":"text"}}}},"since":"text"}}},
    remove: {"method":"DELETE","path":"/spaces/:space","inSpace":false,"answer":null},
  },
  teams: {
    list: {"method":"GET","path":"/teams","inSpace":false,"answer":{"list":{"fields":{"id":"text","name":"text","right":"text","createdAt":"text","members":{"list":{"fields":{"id":"text","email":"text","name":{"orNull":"text"}}}}}}}},
    create: {"method":"POST","path":"/teams","inSpace":false,"answer":{"fields":{"id":"text","name":"text","right":"text","createdAt":"text","members":{"list":{"fields":{"id":"text","email":"text","name":{"orNull":"text"}}}}}}},
    change: {"method":"PATCH","path":"/teams/:id","inSpace":false,"answer":{"fields":{"id":"text","name":"text","right":"text","createdAt":"text","members":{"list":{"fields":{"id":"text","email":"text","name":{"orNull":"text"}}}}}}},
    remove: {"method":"DELETE","path":"/teams/:id","inSpace":false,"answer":null},
    addMember: {"method":"POST","path":"/teams/:id/members","inSpace":false,"answer":{"fields":{"id":"text","name":"text","right":"text","createdAt":"text","members":{"list":{"fields":{"id":"text","email":"text","name":{"orNull":"text"}}}}}}},
    removeMember: {"method":"DELETE","path":"/teams/:id/members/:userId","inSpace":false,"answer":{"fields":{"tokens":{"list":{"fields":{"id":"text","start":"text","name":"text","owner":{"fields":{"kind":"text","id":"text","name":"text"}},"madeBy":{"fields":{"id":"text","email":{"orNull":"text"}}},"spaces":{"orNull":{"list":"text"}},"commands":{"orNull":{"list":"text"}},"cidrs":{"list":"text"},"createdAt":"text","expiresAt":{"orNull":"text"},"lastUse":{"orNull":{"fields":{"day":"text","network":{"orNull":"text"}}}}}}}}},"mayBeEmpty":true},
  },
  users: {
    list: {"method":"GET","path":"/users","inSpace":false,"answer":{"fields":{"items":{"list":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true}},"nextCursor":{"orNull":"text"}}}},
    create: {"method":"POST","path":"/users","inSpace":false,"answer":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true}},
    read: {"method":"GET","path":"/users/:id","inSpace":false,"answer":{"fields":{"account":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"sessions":{"list":{"fields":{"id":"text","userId":"text","device":"text","ip":{"orNull":"text"},"createdAt":"text","lastSeenAt":"text","expiresAt":"text","actor":{"orNull":{"fields":{"userId":"text"}}}},"open":true}},"events":{"list":{"fields":{"id":"text","at":"text","event":"text","outcome":"text","actor":{"orNull":{"fields":{"kind":"text"},"open":true}},"userId":{"orNull":"text"},"sessionId":{"orNull":"text"},"ip":{"orNull":"text"},"userAgent":{"orNull":"text"},"detail":{"map":"fact"}}}}}}},
    update: {"method":"PATCH","path":"/users/:id","inSpace":false,"answer":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true}},
    remove: {"method":"DELETE","path":"/users/:id","inSpace":false,"answer":null},
    disable: {"method":"POST","path":"/users/:id/disable","inSpace":false,"answer":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true}},
    enable: {"method":"POST","path":"/users/:id/enable","inSpace":false,"answer":{"fields":{"id":"text","email":"text","emailVerified":"flag","name":{"orNull":"text"},"roles":{"list":"text"},"twoFactor":"flag","createdAt":"text","lastLoginAt":{"orNull":"text"},"identities":{"list":{"fields":{"provider":"text","linkedAt":"text"}}},"disabledAt":{"orNull":"text"},"disabledUntil":{"orNull":"text"},"disabledReason":{"orNull":"text"}},"open":true}},
    resetPassword: {"method":"POST","path":"/users/:id/reset-password","inSpace":false,"answer":{"fields":{"status":"text"}}},
    mailVerification: {"method":"POST","path":"/users/:id/verification","inSpace":false,"answer":{"fields":{"status":"text"}}},
    removeTwoFactor: {"method":"DELETE","path":"/users/:id/two-factor","inSpace":false,"answer":null},
    impersonate: {"method":"POST","path":"/users/:id/impersonate","inSpace":false,"answer":null},
  },
}
