/** The key of one UTC day. It wraps the keys of the orders that were submitted on this day, and encrypts dead letters. */
export interface DayKey {
  /** `2026-01-31` */
  readonly day: string;
  readonly key: Uint8Array;
}

/** Source of keys. On AWS, KMS wraps the day keys; on one machine, a key file holds them. */
export interface Keys {
  /** Returns the key of the present day, and creates it if it does not exist. */
  today(): Promise<DayKey>;
  /** Returns the key of a day. Rejects if it cannot be read. */
  of(day: string): Promise<DayKey>;
  /** Returns random bytes. */
  random(bytes: number): Uint8Array;
}
