import type { JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import { timeStart } from '#ports/lists';
import { hashOf } from '#ports/records';
import type { TaskRecord } from '#ports/tasks';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { compareAndSet } from '#ports/util/compare-and-set';

/** The tasks, notices and deliveries that are due for the notifier. An entry may be out of date, or be there twice: the record that it names decides. */
export type AgendaSubject =
  /** A task, in a document: one of which people have not heard, or one whose reminder is due. */
  | {
      readonly what: 'task';
      readonly collection: string;
      readonly id: string;
      readonly isNew: boolean;
      /**
       * Present after the rules were asked about its empty group: the number of the exception for which the task was handed over last, or
       * 0.
       */
      readonly asked?: number;
    }
  | { readonly what: 'notice'; readonly group: string; readonly key: string }
  | { readonly what: 'delivery'; readonly id: string };

export interface AgendaEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly subject: AgendaSubject;
  readonly document: Document;
}

/** Parts of the agenda, so that thousands of new tasks a second meet no limit of a partition. */
export const agendaParts = 8;

/** Entries of a part that are read at a time. */
const pageSize = 100;

/** Returns the document of an entry. The same subject at the same time has one entry. */
export function agendaDocument(at: number, subject: AgendaSubject): Document {
  const name = nameOf(subject);
  return {
    collection: collections.agenda(hashOf(name) % agendaParts),
    id: `${timeStart(at)}#${name}`,
    rev: 1,
    content: subject as unknown as JsonObject,
  };
}

const nameOf = (subject: AgendaSubject): string => {
  switch (subject.what) {
    case 'task':
      return `task#${subject.collection}#${subject.id}#${subject.isNew ? 'new' : 'due'}`;
    case 'notice':
      return `notice#${subject.group}#${subject.key}`;
    case 'delivery':
      return `delivery#${subject.id}`;
  }
};

/** Returns the entry that tells people of a new task. It is written before the task itself. */
export const newTaskEntry = ({ openedAt }: Pick<TaskRecord, 'openedAt'>, place: Pick<Document, 'collection' | 'id'>): Document =>
  agendaDocument(openedAt, { what: 'task', collection: place.collection, id: place.id, isNew: true });

/** The notifier's calendar: entries in the order of their times. */
export interface Agenda {
  /** Returns entries that are due, the oldest of each part first. */
  due(now: number): Promise<readonly AgendaEntry[]>;
  /** Puts an entry. If the same one is there already, its rev rises, so that a process that read it before cannot remove it. */
  put(at: number, subject: AgendaSubject): Promise<void>;
  remove(entry: Pick<AgendaEntry, 'document'>): Promise<void>;
  /**
   * Moves an entry to another time. At its own time (the clock has gone back), it stays. After a crash there may be two entries: the record
   * decides.
   */
  move(entry: AgendaEntry, at: number): Promise<void>;
}

type AgendaStore = Pick<Documents, 'documents' | 'putDocument' | 'removeDocument'>;

export function createAgenda(store: AgendaStore): Agenda {
  const agenda: Agenda = {
    async due(now) {
      const parts = Array.from({ length: agendaParts }, (_, part) => store.documents(collections.agenda(part), undefined, pageSize));
      return (await allSettledOrThrow(parts))
        .flat()
        .map(entryOf)
        .filter(({ at }) => at <= now);
    },
    async put(at, subject) {
      const document = agendaDocument(at, subject);
      let rev = 0;
      const result = await compareAndSet(async () => {
        const write = await store.putDocument({ ...document, rev: rev + 1 }, rev);
        if (write.outcome === 'written') return 'over';
        rev = write.current?.rev ?? 0;
        return 'lost';
      });
      if (result === 'lost')
        throw new Error(`The entry ${document.id} of the agenda was not written: other processes wrote first. The notifier tries again.`);
    },
    async remove({ document: { collection, id, rev } }) {
      await store.removeDocument(collection, id, rev);
    },
    async move(entry, at) {
      await agenda.put(at, entry.subject);
      await agenda.remove(entry);
    },
  };
  return agenda;
}

const entryOf = (document: Document): AgendaEntry => ({
  at: Number(document.id.slice(0, document.id.indexOf('#'))),
  subject: document.content as unknown as AgendaSubject,
  document,
});
