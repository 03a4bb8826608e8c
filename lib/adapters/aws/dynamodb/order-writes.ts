import { randomBytes } from 'node:crypto';
import type { StateHead } from '#ports/records';
import type { Fence, Store } from '#ports/store';
import { allOf, type Condition, fencedBy, withoutExpiry } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { newDocument } from './documents.ts';
import { headChange, headOf, headProjection, type Item, stateItem, stateOf } from './items.ts';
import { keys } from './keys.ts';
import { leftoversIn } from './leftovers.ts';
import { overflowItems } from './pages.ts';
import { callerOf, expireOtherRecords, expiryOf, keepsWhatItCalled } from './retention.ts';
import { type Answer, putAllIf, putIf, setIf } from './update-if.ts';

/** Replaces states, if no other write happened since the load. */
export const dynamoDbOrderWrites = (context: StoreContext): Pick<Store, 'update' | 'patch'> => ({
  async update(state, when, { overflow, documents = [] }) {
    const pages = overflowItems(state.orderId, when.rev, overflow).map((item) => ({ item }));
    const others = [...pages, ...documents.map(newDocument)];
    const answer = await writeFenced(context, state, when, (expiresAt, condition) => {
      const item = stateItem(state, expiresAt);
      return others.length === 0 ? putIf(context.table, item, condition) : putAllIf(context.table, { item, when: condition }, others);
    });
    return answer.outcome === 'written' ? answer : { ...answer, current: answer.current && stateOf(answer.current) };
  },

  async patch(head, when) {
    const patchId = randomBytes(6).toString('base64url');
    const write: FencedWrite = (expiresAt, condition) => {
      const { set, remove } = headChange(head, expiresAt);
      return setIf(context.table, keys.state(head.orderId), { set: { ...set, patchId }, remove, attributes }, condition);
    };
    const answer = await writeFenced(context, head, when, write, patchId);
    return answer.outcome === 'written' ? answer : { ...answer, current: answer.current && headOf(answer.current) };
  },
});

/** The attributes that a refused patch returns. */
const attributes = [...headProjection, 'patchId'];

type FencedWrite = (expiresAt: number | undefined, when: Condition) => Promise<Answer>;

/** Writes a state with the expiry that it should have now, then gives the same expiry to the order's other records. */
async function writeFenced(context: StoreContext, head: StateHead, when: Fence, write: FencedWrite, patchId?: string): Promise<Answer> {
  const { withRetries, isPresent } = context;
  const leftovers = leftoversIn(context);
  // If the response to our patch was lost, the retry is refused and finds our own patch. That counts as written. The scheduler recognizes
  // its updates by their write ids.
  const settled = (answer: Answer): Answer =>
    answer.outcome === 'refused' && patchId !== undefined && answer.current?.['patchId'] === patchId ? { outcome: 'written' } : answer;
  const due = expiryOf(context, head);
  const caller = due === undefined ? undefined : await callerOf(context, head.orderId);
  const expiresAt = caller !== undefined && (await keepsWhatItCalled(context, caller)) ? undefined : due;
  const fence = fencedBy(when);
  // If the stored state has no expiry, one write suffices. Otherwise an order that continues must first remove the expiry of its other
  // records.
  let answer = settled(await withRetries(() => write(expiresAt, expiresAt === undefined ? allOf(fence, withoutExpiry) : fence)));
  if (expiresAt === undefined && answer.outcome === 'refused' && isPresent(answer.current) && isAt(answer.current, when)) {
    const isWhole = await leftovers.keep(head.orderId, head.rev);
    answer = settled(await withRetries(() => write(undefined, isWhole ? fence : allOf(fence, withoutExpiry))));
  }
  if (answer.outcome === 'refused') return { outcome: 'refused', current: isPresent(answer.current) ? answer.current : null };
  // The caller may have ended meanwhile. The caller found this order unfinished, and left the expiry of this order to this write.
  if (due !== undefined && expiresAt === undefined && caller !== undefined && !(await keepsWhatItCalled(context, caller)))
    await leftovers.release(head.orderId, due).catch(() => undefined);
  if (expiresAt !== undefined) await expireOtherRecords(context, { ...keys.state(head.orderId), rev: head.rev, expiresAt });
  return answer;
}

const isAt = (item: Item, { epoch, rev }: Fence): boolean => item['epoch'] === epoch && item['rev'] === rev;
