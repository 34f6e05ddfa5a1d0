/** A document as it was found: the platform's own id, and our fields. */
export interface Found {
  id: string
  key: string
  row: Row
}

export type Row = Readonly<Record<string, string | number | null>>
