import type { Database } from '#adapters/sqlite/database';
import type { Notice } from '#core/notifications/notice';
import { collections } from '#ports/documents';
import { timeStart } from '#ports/lists';

const agenda = collections.agenda('*').slice(0, -1);
const notices = collections.notices('');

/** The messages that people have not heard yet, as the store has them. */
export class Unheard {
  private readonly selectAgenda;
  private readonly selectDeliveries;
  private readonly selectNotices;

  constructor(database: Database) {
    const between = (prefix: string): string => `collection >= '${prefix}' AND collection < '${prefix}~'`;
    this.selectAgenda = database.prepare(`SELECT count(*) AS count FROM documents WHERE ${between(agenda)} AND id < ?`);
    this.selectDeliveries = database.prepare(
      `SELECT id FROM documents WHERE (collection = '${collections.deliveries}' AND id NOT LIKE 'dead#%') OR (${between(agenda)} AND id LIKE '%#new')`,
    );
    this.selectNotices = database.prepare(`SELECT id, record FROM documents WHERE ${between(notices)}`);
  }

  /** Whether a notifier with a correct clock would find something on its agenda. */
  isAnythingDue(now: number): boolean {
    return (this.selectAgenda.get(timeStart(now + 1)) as { readonly count: number }).count > 0;
  }

  /** Describes new tasks that no message has told of, and messages on their way. Reminders do not count: they go on while a task is open. */
  unrest(): readonly string[] {
    const messages = this.selectDeliveries.all() as unknown as readonly { readonly id: string }[];
    const found = this.selectNotices.all() as unknown as readonly { readonly id: string; readonly record: string }[];
    const told = found.filter(({ record }) => {
      const { content } = JSON.parse(record) as { readonly content: { readonly notice: Notice } };
      return (content.notice.news?.opened ?? 0) > 0;
    });
    return [...messages, ...told].map(({ id }) => `people have not heard of ${id}`);
  }
}
