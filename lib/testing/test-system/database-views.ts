import { bodiesAtRest } from '#adapters/sqlite/bodies-at-rest';
import type { Database } from '#adapters/sqlite/database';
import type { LocalKeys } from '#adapters/sqlite/keys';
import type { Json } from '#core/data/json';
import type { ManualClock } from '#ports/clock';
import { collections } from '#ports/documents';
import { timeStart } from '#ports/lists';
import { agendaParts } from '#roles/notifier/agenda';

/** A notifier looks at every due entry within this time. */
const notifierMs = 60_000;

/** Returns a function that advances the clock by some milliseconds in total, from each due event to the next. */
export function timePassing(database: Database, clock: ManualClock): (ms: number) => Promise<void> {
  const selectDue = database.prepare(
    `SELECT min(at) AS at FROM (
       SELECT min(visibleAt) AS at FROM messages UNION ALL SELECT min(worklistAt) FROM states WHERE worklist = 'due'
     )`,
  );
  // News, reminders and summaries for people. An entry that is a minute overdue is skipped: it waits for an event, or no notifier runs.
  const selectAgenda = database.prepare(
    `SELECT min(id) AS id FROM documents WHERE collection >= '${collections.agenda(0)}' AND collection <= '${collections.agenda(agendaParts - 1)}' AND id >= ?`,
  );
  const nextOnAgenda = (): number | null => {
    const { id } = selectAgenda.get(timeStart(clock.now() - notifierMs)) as { id: string | null };
    return id === null ? null : Number.parseInt(id, 10);
  };
  return async (ms) => {
    const end = clock.now() + ms;
    for (;;) {
      await clock.advance(0);
      const { at: due } = selectDue.get() as { at: number | null };
      const at = Math.min(due ?? Infinity, nextOnAgenda() ?? Infinity);
      if (at > end) break;
      // A message that is already due waits for the next poll, so only the clock moves.
      if (at > clock.now()) await clock.jump(at - clock.now());
      else if (!(await clock.nextBy(end))) break;
    }
    await clock.jump(end - clock.now());
  };
}

/** Returns a function that reads the bodies of the messages on a queue, oldest first. */
export function messagesIn(database: Database, keys: LocalKeys): (queue: string) => readonly Json[] {
  const bodies = bodiesAtRest(keys);
  const select = database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id');
  return (queue) => select.all(queue).map((row) => JSON.parse(bodies.read((row as { body: string }).body)) as Json);
}
