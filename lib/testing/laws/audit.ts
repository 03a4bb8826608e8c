import { collections, type Document } from '#ports/documents';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Written = Extract<Observation, { type: 'written' }>;

/**
 * An instruction of an operator has one entry in the audit, and the entry is part of the write that applies it (A5). The law
 * `instructions` says that no instruction is applied twice, and compares each answer with the write that applied the instruction.
 */
export const audit = ({ audits }: Pick<Setting, 'audits'>): Law => ({
  name: 'audit',
  after: on(['written'], (observation, history) => {
    if (!audits) return undefined;
    const { orderId } = observation.after;
    const given = history.orders
      .get(orderId)
      ?.newFacts.flatMap((fact) => (fact.type === 'InstructionGiven' && fact.by === 'operator' ? [`${fact.kind} ${fact.reason}`] : []));
    const recorded = (observation.documents ?? []).flatMap((document) => entryOf(document, observation));
    const [expected, got] = [given ?? [], recorded].map((all) => all.join(', '));
    return expected === got ? undefined : `order ${orderId}: the write applies "${expected}", and its audit says "${got}"`;
  }),
});

/** Returns the instruction that an audit entry records, as text. A signal does not count: the order may apply it much later. */
function entryOf({ collection, content }: Document, { before, after }: Written): readonly string[] {
  if (!collection.startsWith(collections.audit(''))) return [];
  if (content['action'] === 'signal') return [];
  const isOfWrite = content['target'] === after.orderId && content['before'] === (before?.rev ?? 0) && content['after'] === after.rev;
  return [isOfWrite ? `${content['action']} ${content['reason']}` : `an entry of another write: ${JSON.stringify(content)}`];
}
