import type { Json, JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import { lists, sortKey } from '#ports/lists';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs } from '#ports/util/days';
import { type BulkAsked, type BulkRun, type ItemOutcome, type ItemRefusal, needsWork, type Verdict } from './run.ts';

/** One run has at most this many orders. */
export const ordersMax = 100_000;
/** Orders in one document of the set. */
export const chunkOrders = 500;
/** Runs and their outcomes are kept as long as the audit. */
const keptMs = 400 * dayMs;

/** An order of the frozen set. `seq`: the number of its open exception or question; 0 if it has none. */
export interface OrderOfSet {
  readonly orderId: string;
  readonly seq: number;
  readonly rev: number;
  /** The reference that its client gave to it. */
  readonly reference?: string | undefined;
}

/** The outcome of an order. It is written once. */
export interface StoredOutcome {
  readonly orderId: string;
  readonly outcome: ItemOutcome;
  readonly at: number;
  readonly refusals?: readonly ItemRefusal[];
}

const json = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
const expiry = (createdAt: number): Pick<Document, 'expiresAt'> => ({ expiresAt: createdAt + keptMs });
const numbered = (chunk: number): string => String(chunk).padStart(4, '0');
const runId = 'RUN';
const askedId = 'ASKED';

export function runDocument(run: BulkRun, rev: number): Document {
  const { id, createdAt } = run;
  const sort = sortKey(createdAt, id);
  return {
    collection: collections.bulk(id),
    id: runId,
    rev,
    content: json(run),
    ...expiry(createdAt),
    listA: { list: lists.bulkRuns, sort },
    ...(needsWork(run) ? { listB: { list: lists.unfinishedBulkRuns, sort } } : {}),
  };
}

export const runIn = ({ content }: Document): BulkRun => content as unknown as BulkRun;

export const askedDocument = ({ id, createdAt }: BulkRun, asked: BulkAsked): Document => ({
  collection: collections.bulk(id),
  id: askedId,
  rev: 1,
  content: json(asked),
  ...expiry(createdAt),
});

export const outcomeDocument = ({ id, createdAt }: BulkRun, outcome: StoredOutcome): Document => ({
  collection: collections.bulk(id),
  id: outcomeId(outcome.orderId),
  rev: 1,
  content: json(outcome),
  ...expiry(createdAt),
});

const outcomeId = (orderId: string): string => `OUT#${orderId}`;

export const outcomeIn = ({ content }: Document): StoredOutcome => content as unknown as StoredOutcome;

/** The verdict on an order; `none`: the instruction has not been applied to it. */
export type Mark = Verdict | 'none';
/** The stored form of the marks of a chunk has one letter for each order. */
const letters: { readonly [mark in Mark]: string } = { none: '.', running: '-', passed: 'p', 'failed-again': 'a', 'failed-otherwise': 'o' };
const marks = new Map(Object.entries(letters).map(([mark, letter]) => [letter, mark as Mark]));

/** Access to the documents of bulk runs. */
export interface BulkDocuments {
  run(id: string): Promise<BulkRun | undefined>;
  asked(id: string): Promise<BulkAsked>;
  /**
   * Changes a run; tries again after each lost race. `next` returns undefined to leave the run as it is. Resolves to the changed run;
   * undefined if there is no such run, or if `next` left it as it was. `beside`: new documents of the same write.
   */
  change(id: string, next: (run: BulkRun) => BulkRun | undefined, beside?: readonly Document[]): Promise<BulkRun | undefined>;
  putChunk(run: BulkRun, epoch: number, chunk: number, orders: readonly OrderOfSet[]): Promise<void>;
  chunk(run: BulkRun, chunk: number): Promise<readonly OrderOfSet[]>;
  /** Returns the outcomes of the orders from the first to the last of `orders`, by order id. */
  outcomes(id: string, orders: readonly OrderOfSet[]): Promise<ReadonlyMap<string, StoredOutcome>>;
  outcome(id: string, orderId: string): Promise<StoredOutcome | undefined>;
  /** Writes an outcome unless the order has one already. Resolves to the outcome that the order has then. */
  putOutcome(run: BulkRun, outcome: StoredOutcome): Promise<StoredOutcome>;
  /** Returns the marks of all chunks that have any. */
  marks(id: string): Promise<ReadonlyMap<number, readonly Mark[]>>;
  putMarks(run: BulkRun, chunk: number, marks: readonly Mark[]): Promise<void>;
}

export function bulkDocuments(store: Pick<Documents, 'document' | 'documents' | 'putDocument'>): BulkDocuments {
  const setId = (epoch: number, chunk: number): string => `SET#${String(epoch).padStart(6, '0')}#${numbered(chunk)}`;
  const marksId = (chunk: number): string => `MARKS#${numbered(chunk)}`;
  const marksIn = ({ content }: Document): readonly Mark[] => [...String(content['marks'])].map((letter) => marks.get(letter) ?? 'none');
  const read = async (id: string, key: string): Promise<Document | undefined> => store.document(collections.bulk(id), key);

  /** Writes a document over its earlier version, if there is one. Only the process with the lease of the run writes it. */
  async function replace(run: BulkRun, id: string, content: JsonObject): Promise<void> {
    const result = await compareAndSet(async () => {
      const rev = (await read(run.id, id))?.rev ?? 0;
      const document = { collection: collections.bulk(run.id), id, rev: rev + 1, content, ...expiry(run.createdAt) };
      return (await store.putDocument(document, rev)).outcome === 'written' ? 'over' : 'lost';
    });
    if (result === 'lost') throw new Error(`The document ${id} of the bulk run ${run.id} changes too often.`);
  }

  return {
    async run(id) {
      const document = await read(id, runId);
      return document && runIn(document);
    },
    async asked(id) {
      const document = await read(id, askedId);
      if (!document) throw new Error(`The bulk run ${id} has lost its filter and its instruction.`);
      return document.content as unknown as BulkAsked;
    },
    async change(id, next, beside) {
      const result = await compareAndSet(async () => {
        const document = await read(id, runId);
        const changed = document && next(runIn(document));
        if (!document || !changed) return undefined;
        const write = await store.putDocument(runDocument(changed, document.rev + 1), document.rev, beside);
        return write.outcome === 'written' ? changed : 'lost';
      });
      if (result === 'lost') throw new Error(`The bulk run ${id} changes too often. Try again.`);
      return result;
    },
    putChunk: (run, epoch, chunk, orders) => replace(run, setId(epoch, chunk), { orders: orders.map(storedOrder) }),
    async chunk(run, chunk) {
      const document = run.set && (await read(run.id, setId(run.set.epoch, chunk)));
      if (!document) throw new Error(`The bulk run ${run.id} has lost a part of its set.`);
      const orders = document.content['orders'] as [string, number, number, string?][];
      return orders.map(([orderId, seq, rev, reference]) => ({ orderId, seq, rev, ...(reference === undefined ? {} : { reference }) }));
    },
    outcomes: (id, orders) => outcomesOf(store, id, orders),
    async outcome(id, orderId) {
      const document = await read(id, outcomeId(orderId));
      return document && outcomeIn(document);
    },
    async putOutcome(run, outcome) {
      const write = await store.putDocument(outcomeDocument(run, outcome), 0);
      return write.outcome === 'refused' && write.current ? outcomeIn(write.current) : outcome;
    },
    async marks(id) {
      const found = await store.documents(collections.bulk(id), marksId(0).slice(0, -4), ordersMax / chunkOrders + 1);
      const entries = found.filter((document) => document.id.startsWith('MARKS#'));
      return new Map(entries.map((document) => [Number(document.id.slice('MARKS#'.length)), marksIn(document)]));
    },
    putMarks: (run, chunk, given) => replace(run, marksId(chunk), { marks: given.map((mark) => letters[mark]).join('') }),
  };
}

const storedOrder = ({ orderId, seq, rev, reference }: OrderOfSet): Json => [
  orderId,
  seq,
  rev,
  ...(reference === undefined ? [] : [reference]),
];

const pageSize = 500;

async function outcomesOf(
  store: Pick<Documents, 'documents'>,
  id: string,
  orders: readonly OrderOfSet[],
): Promise<ReadonlyMap<string, StoredOutcome>> {
  const [first, last] = [orders[0], orders.at(-1)];
  const found = new Map<string, StoredOutcome>();
  if (!first || !last) return found;
  // An id that sorts before that of the first outcome.
  let after = outcomeId(first.orderId).slice(0, -1);
  for (;;) {
    const page = await store.documents(collections.bulk(id), after, pageSize);
    for (const document of page) {
      if (document.id > outcomeId(last.orderId)) return found;
      if (document.id >= outcomeId(first.orderId)) found.set(outcomeIn(document).orderId, outcomeIn(document));
      after = document.id;
    }
    if (page.length < pageSize) return found;
  }
}
