/** The objects that a step has read and written. The entry is stored under the name of each object. */
export interface ObjectsContent {
  readonly kind: 'objects';
  readonly orderId: string;
  readonly path: string;
  /** The time of the first request of the step under the key of this effect: milliseconds since 1970. An older process does not say it. */
  readonly requestedAt?: number;
  /** The time at which the step closed: milliseconds since 1970. */
  readonly closedAt: number;
  /** The number of the journal's entry with these names. */
  readonly seq: number;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}
