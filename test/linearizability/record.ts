import type { StateHead } from '#ports/records';
import type { Fence, Patched, Store, Write } from '#ports/store';
import type { Operation, Sequential } from './linearizable.ts';

/** A state of an order's record, and the write that made it. */
export interface Version {
  readonly rev: number;
  readonly epoch: number;
  readonly lockedBy: string | null;
  /** Number of the last write of the whole record. */
  readonly writeId: string;
}

/** An operation on the record. */
export type RecordCall = { readonly type: 'read' } | { readonly type: 'write'; readonly when: Fence; readonly to: Version };
/** `current`: the record that was read, or that a refused write found. */
export type RecordAnswer = { readonly written: boolean; readonly current?: Version };
export type RecordOperation = Operation<RecordCall, RecordAnswer> & { readonly orderId: string };

/** An order's record as it would be with one write after the other: a write succeeds if its fence holds. */
export const recordFrom = (first: Version): Sequential<Version, RecordCall, RecordAnswer> => ({
  first,
  step(state, call, recordAnswer) {
    if (call.type === 'read') return recordAnswer === undefined || same(recordAnswer.current, state) ? state : undefined;
    const isAccepted = call.when.rev === state.rev && call.when.epoch === state.epoch;
    const after = isAccepted ? call.to : state;
    if (recordAnswer === undefined) return after;
    if (recordAnswer.written !== isAccepted) return undefined;
    return isAccepted || same(recordAnswer.current, state) ? after : undefined;
  },
  key: ({ rev, epoch, lockedBy, writeId }) => `${rev} ${epoch} ${lockedBy} ${writeId}`,
});

const same = (one: Version | undefined, other: Version): boolean =>
  one !== undefined &&
  one.rev === other.rev &&
  one.epoch === other.epoch &&
  one.lockedBy === other.lockedBy &&
  one.writeId === other.writeId;

export const versionOf = ({ rev, epoch, lockedBy, writeIds }: StateHead): Version => ({
  rev,
  epoch,
  lockedBy,
  writeId: writeIds.at(-1)?.id ?? 'none',
});

/** A store that records all operations on records, with their answers. One clock serves all processes of a machine. */
export function noting(store: Store, note: (operation: RecordOperation) => void): Store {
  const now = (): number => Number(process.hrtime.bigint());
  async function noted<T>(
    orderId: string,
    input: RecordCall,
    ask: () => Promise<T>,
    recordAnswer: (answer: T) => RecordAnswer,
  ): Promise<T> {
    const called = now();
    try {
      const answer = await ask();
      note({ orderId, called, answered: now(), input, output: recordAnswer(answer) });
      return answer;
    } catch (error) {
      note({ orderId, called, answered: Number.POSITIVE_INFINITY, input });
      throw error;
    }
  }
  const write = <W extends Write | Patched>(head: StateHead, { rev, epoch }: Fence, ask: () => Promise<W>) =>
    noted(head.orderId, { type: 'write', when: { rev, epoch }, to: versionOf(head) }, ask, (answer) =>
      answer.outcome === 'written'
        ? { written: true }
        : { written: false, ...(answer.current ? { current: versionOf(answer.current) } : {}) },
    );
  return {
    ...store,
    load: (orderId) =>
      noted(
        orderId,
        { type: 'read' },
        () => store.load(orderId),
        (found) => ({ written: false, ...(found ? { current: versionOf(found.state) } : {}) }),
      ),
    update: (state, when, along) => write(state, when, () => store.update(state, when, along)),
    patch: (head, when) => write(head, when, () => store.patch(head, when)),
  };
}
