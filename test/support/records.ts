import type { OrderRecord, StateHead, StateRecord } from '#ports/records';
import type { OrderPage, SentWithWrite, Store } from '#ports/store';

export const noon = Date.UTC(2026, 0, 1, 12);

/** An order as it is submitted; a test names only the fields that matter to it. */
export const orderRecord = (orderId: string, more: Partial<OrderRecord> = {}): OrderRecord => ({
  orderId,
  client: 'shop',
  workflow: { name: 'fulfil-order', version: 1 },
  body: { item: orderId },
  hash: 'hash',
  submittedAt: noon,
  answer: '{}',
  ...more,
});

/** The state of an order, claimed and running. */
export const stateRecord = (orderId: string, more: Partial<StateRecord> = {}): StateRecord => ({
  schemaVersion: 1,
  orderId,
  submittedAt: noon,
  rev: 1,
  epoch: 1,
  lockedBy: 'host',
  completeBy: noon + 30_000,
  processState: 'Processing',
  outcome: null,
  failureCount: 0,
  errorGen: 0,
  suspended: false,
  remainingMs: null,
  fault: null,
  heldBy: null,
  heldUntil: null,
  nextDueAt: noon + 30_000,
  nextDueFor: { kind: 'step', path: 'order/charge', agent: 'payment' },
  worklist: 'due',
  worklistAt: noon + 30_000,
  recover: 'step',
  maxFailures: 3,
  onExhausted: 'error',
  stepMs: 30_000,
  client: 'shop',
  responseChannel: null,
  statusSeq: 0,
  workflow: { name: 'fulfil-order', version: 1 },
  definition: 'as it was begun',
  lastBy: [],
  writeIds: [],
  outbox: [],
  notes: [],
  updatedAt: noon,
  blob: '{"the":"instance"}',
  ...more,
});

/** The messages of a write that sends none. */
export const alone: SentWithWrite = { messages: [], announcements: [] };

/** Stores an order with its state, both of the same time. */
export async function put(
  store: Store,
  orderId: string,
  state: Partial<StateRecord> = {},
  order: Partial<OrderRecord> = {},
): Promise<StateRecord> {
  const [stored, record] = [orderRecord(orderId, order), stateRecord(orderId, { submittedAt: order.submittedAt ?? noon, ...state })];
  await store.create(stored, record, alone);
  return record;
}

/** Returns the record of the next write. */
export const next = <T extends StateHead>(state: T, more: Partial<NoInfer<T>> = {}): T => ({ ...state, rev: state.rev + 1, ...more });

export const headOf = ({ blob: _, ...head }: StateRecord): StateHead => head;
export const idsOf = ({ items }: OrderPage): string[] => items.map(({ order }) => order.orderId);
