import type { AuditEvent } from '../model/audit-event.js'

/** What was added at run time to the settings of access, and what stands in place of one. */
export interface AccessRecord {
  /** Address of the key set in place of the one in the settings; null: theirs is in force. */
  jwksUrl: string | null
  /** IP addresses and CIDRs, canonical, in the order of their texts. */
  networks: string[]
}

/**
 * Settings of access that are changed while applications run. Each change writes a `setting` row into the change feed and
 * its audit event in the same step; one that changes nothing writes neither and answers false.
 */
export interface AccessSettings {
  read(): Promise<AccessRecord>

  /** Of concurrent calls with one network, one adds it. */
  addNetwork(network: string, event: AuditEvent): Promise<boolean>

  removeNetwork(network: string, event: AuditEvent): Promise<boolean>

  setJwksUrl(url: string | null, event: AuditEvent): Promise<boolean>
}
