import type { JsonObject } from '#core/data/json';
import type { PeopleGroup } from '#core/notifications/people-group';
import { collections, type Document, type Documents, type DocumentWrite } from '#ports/documents';

/** The largest number of groups of people. One read returns all of them. */
export const groupsMax = 1000;

/** The groups of people, with the destinations that each has chosen. */
export interface PeopleGroups {
  group(name: string): Promise<PeopleGroup | undefined>;
  /** Returns all groups, sorted by name. */
  list(): Promise<readonly PeopleGroup[]>;
  /** Writes a group if its `rev` follows that of the stored one. `beside`: new documents of the same transaction. */
  put(group: PeopleGroup, beside: readonly Document[]): Promise<DocumentWrite>;
}

export function createPeopleGroups(store: Pick<Documents, 'document' | 'documents' | 'putDocument'>): PeopleGroups {
  return {
    async group(name) {
      const document = await store.document(collections.peopleGroups, name);
      return document && groupIn(document);
    },
    list: async () => (await store.documents(collections.peopleGroups, undefined, groupsMax)).map(groupIn),
    put: ({ rev, ...group }, beside) =>
      store.putDocument(
        { collection: collections.peopleGroups, id: group.name, rev, content: group as unknown as JsonObject },
        rev - 1,
        beside,
      ),
  };
}

export const groupIn = ({ rev, content }: Document): PeopleGroup => ({ ...(content as unknown as Omit<PeopleGroup, 'rev'>), rev });
