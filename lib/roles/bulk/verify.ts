import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import { salvagedTail } from '#roles/scheduler/instance';
import { readableHead } from '#roles/scheduler/load';
import type { OrderOfSet } from './documents.ts';
import type { Verdict } from './run.ts';

type Ports = Pick<Store, 'load' | 'head' | 'document'>;

/** An order to which a run has applied its instruction. */
export interface AppliedOrder extends OrderOfSet {
  readonly kind: string;
}

/** Finds out whether an applied instruction has helped. */
export type Verify = (order: AppliedOrder) => Promise<Verdict>;

/**
 * Judges an applied instruction by the order as it is now. A new open exception means that it failed: again if it is like the one before.
 * It passed if the order has ended as it should, or if the step that had failed has succeeded since then.
 */
export const verifyBy =
  (store: Ports): Verify =>
  async (order) => {
    const head = await readableHead(order.orderId, store);
    // The order was forgotten meanwhile: it had ended, and nobody looks for it.
    if (!head) return 'passed';
    const next = head.open?.findLast(({ seq }) => seq > order.seq);
    if (next) return (await isAlike(order, next.seq, store)) ? 'failed-again' : 'failed-otherwise';
    if (head.processState === 'Processed') return endedWell(head, order.kind) ? 'passed' : 'failed-otherwise';
    return (await hasPassedItsStep(order, store)) ? 'passed' : 'running';
  };

const endedWell = ({ outcome }: StateHead, kind: string): boolean =>
  kind === 'compensate' || kind === 'cancel' ? outcome === 'compensated' || outcome === 'canceled' : outcome === 'completed';

async function isAlike({ orderId, seq }: OrderOfSet, next: number, store: Ports): Promise<boolean> {
  const [before, after] = await Promise.all([seq, next].map((each) => exceptionOf(exceptionIdOf(orderId, each), store)));
  return before !== undefined && before.fingerprint === after?.fingerprint;
}

/** Whether the step of the exception has succeeded after the instruction, as far as the newest part of the journal tells. */
async function hasPassedItsStep({ orderId, seq, kind }: AppliedOrder, store: Ports): Promise<boolean> {
  if (seq === 0 || !stepKinds.has(kind)) return false;
  const exception = await exceptionOf(exceptionIdOf(orderId, seq), store);
  const loaded = exception?.path ? await store.load(orderId) : undefined;
  if (!loaded) return false;
  const { entries } = salvagedTail(loaded.state.blob);
  const given = entries.findLastIndex(({ type }) => type === 'InstructionGiven');
  return entries
    .slice(given + 1)
    .some((fact) => fact.type === 'ActivityClosed' && fact.path === exception?.path && fact.result === 'Succeeded');
}

/** Instructions that have passed as soon as the failed step succeeds. */
const stepKinds: ReadonlySet<string> = new Set(['resubmit', 'replace-input', 'amend', 'migrate']);
