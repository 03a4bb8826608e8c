import { collections, type Document, type Documents } from '#ports/documents';
import type { SentWithWrite } from '#ports/store';
import type { TaskRecord } from '#ports/tasks';
import { isEarlyClosing, taskIn } from '#roles/exceptions/records';
import type { Delivery } from '#roles/notifier/deliveries';
import type { PortCall } from './instrumented-ports.ts';
import type { Observation } from './observation.ts';

type OfPeople = Extract<Observation, { type: 'people recorded' | 'message removed' }>;

/** A record of what people must hear. */
export type PeopleRecord =
  | { readonly what: 'task'; readonly task: TaskRecord }
  /** A message to one destination. */
  | { readonly what: 'message'; readonly id: string; readonly delivery: Delivery }
  /** The messages that a group has got in the period that began at `since`. */
  | { readonly what: 'allowance'; readonly group: string; readonly since: number; readonly sent: number };

/** Returns the observation of a call that has written or removed such records; undefined for any other call. */
export function peopleRecordsBy({ site, args }: PortCall, answer: unknown): OfPeople | undefined {
  if ((answer as { readonly outcome?: string } | undefined)?.outcome !== 'written') return undefined;
  if (site === 'store.removeDocument') {
    const [collection, id] = args as unknown as Parameters<Documents['removeDocument']>;
    return collection === collections.deliveries && isMessage(id) ? { type: 'message removed', id } : undefined;
  }
  const documents = documentsIn(site, args).filter(isOfPeople);
  return documents.length > 0 ? { type: 'people recorded', documents } : undefined;
}

function documentsIn(site: string, args: PortCall['args']): readonly Document[] {
  switch (site) {
    case 'store.putDocument': {
      const [document, , beside = []] = args as unknown as Parameters<Documents['putDocument']>;
      return [document, ...beside];
    }
    case 'store.putCounted':
      return [args[0] as Document];
    case 'store.update':
    case 'store.create':
      // A store that writes and sends atomically has the records in the write of the order.
      return ((args[2] as SentWithWrite | undefined)?.records ?? []).map(({ document }) => document);
    default:
      return [];
  }
}

/** Returns the records in an observation. */
export const peopleRecordsIn = ({ documents }: { readonly documents: readonly Document[] }): readonly PeopleRecord[] =>
  documents.filter(isOfPeople).map(recordOf);

const isOfPeople = (document: Document): boolean =>
  isTask(document) ||
  (document.collection === collections.deliveries && isMessage(document.id)) ||
  document.collection === collections.allowances;

const isTask = (document: Document): boolean =>
  document.collection.startsWith(collections.order('')) && document.id.startsWith('TASK#') && !isEarlyClosing(document);

/** The same collection holds the destinations that cannot be reached. */
const isMessage = (id: string): boolean => !id.startsWith('dead#');

function recordOf(document: Document): PeopleRecord {
  const { collection, id, content } = document;
  if (isTask(document)) return { what: 'task', task: taskIn(document) };
  if (collection === collections.deliveries) return { what: 'message', id, delivery: content as unknown as Delivery };
  const { since, sent } = content as { readonly since: number; readonly sent: number };
  return { what: 'allowance', group: id, since, sent };
}
