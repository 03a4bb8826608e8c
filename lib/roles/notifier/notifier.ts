import type { Destination } from '#core/notifications/delivery';
import type { Clock } from '#ports/clock';
import type { Documents } from '#ports/documents';
import { isFatal } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import type { Queues } from '#ports/queues';
import type { Sender } from '#ports/sender';
import type { Tallies } from '#ports/tallies';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type AgendaEntry, createAgenda } from './agenda.ts';
import { createDeadDestinations } from './dead-destinations.ts';
import { deliver } from './deliveries.ts';
import { exceptionFigures } from './figures.ts';
import { createNotices, type NoticeName, type TaskNews } from './notices.ts';
import { newsOf, type TaskEntry } from './task-news.ts';

export interface NotifierOptions {
  readonly store: Documents & Tallies;
  /** The event bus on which reminders are announced. */
  readonly publisher: Publisher;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly queues: Pick<Queues, 'send'>;
  /** Whether a group of people is known and has neither members nor destinations. */
  readonly isEmpty: (group: string) => Promise<boolean>;
  /** Returns where a group of people hears of its tasks. */
  readonly destinationsOf: (group: string) => Promise<readonly Destination[]>;
  /** Returns until when a notice is muted: milliseconds since 1970, 0 if it is not. */
  readonly mutedUntil: (name: NoticeName) => Promise<number>;
  /** The time that admins have for the task of a destination. */
  readonly dueMs: number;
  /** The interval between the first two reminders, for tasks that give none. */
  readonly reminderMs: number;
  readonly consoleUrl?: string | undefined;
}

/** Tells people of their tasks, and reminds them. */
export interface Notifier {
  /** Does everything that is due. Several passes may run at the same time: a person may then get a message twice, under one id. */
  pass(stopping?: () => boolean): Promise<void>;
}

const isOfTask = (entry: AgendaEntry): entry is TaskEntry => entry.subject.what === 'task';

export function createNotifier(options: NotifierOptions): Notifier {
  const { store, clock, telemetry } = options;
  const agenda = createAgenda(store);
  const figuresOf = exceptionFigures(store, clock);
  const destinations = createDeadDestinations(options);
  const notices = createNotices({ ...options, agenda, figuresOf });

  /** Tells of tasks: the news of one kind are written together, however many tasks there are. */
  async function tellOfTasks(entries: readonly TaskEntry[], now: number): Promise<void> {
    const found = (
      await allSettledOrThrow(entries.map((entry) => loggingError(entry, newsOf(entry, { ...options, agenda, now }))))
    ).flatMap((each) => each ?? []);
    const alike = Map.groupBy(
      found.flatMap(({ news }) => news ?? []),
      ({ group, key }) => JSON.stringify([group, key]),
    );
    await allSettledOrThrow([...alike.values()].map((each) => notices.add(sumOf(each))));
    await allSettledOrThrow(found.map(({ done }) => done()));
  }

  /** Logs the error of one entry, which stays on the agenda: people hear of the others. */
  async function loggingError<T>({ document: { id: entry } }: AgendaEntry, work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (isFatal(error)) throw error;
      telemetry.log('error', 'cannot notify', { entry, error });
      return undefined;
    }
  }

  const look = async (entry: AgendaEntry): Promise<void> => {
    const { subject } = entry;
    if (subject.what === 'notice') await notices.look(entry, subject);
    if (subject.what === 'delivery') await deliver(entry, subject.id, { ...options, agenda, destinations });
  };

  async function lookInTurn(entries: readonly AgendaEntry[]): Promise<void> {
    for (const entry of entries) await loggingError(entry, look(entry));
  }

  return {
    async pass(stopping = () => false) {
      telemetry.count('notifierPass');
      // Entries that are put off, or that failed, come again in the next pass.
      const seen = new Set<string>();
      while (!stopping()) {
        const now = clock.now();
        const entries = (await agenda.due(now)).filter(({ document: { collection, id } }) => !seen.has(`${collection} ${id}`));
        if (entries.length === 0) return;
        for (const { document } of entries) seen.add(`${document.collection} ${document.id}`);
        await tellOfTasks(entries.filter(isOfTask), now);
        await allSettledOrThrow([...sequencesIn(entries)].map(lookInTurn));
      }
    },
  };
}

/**
 * Returns lists of entries. The lists are handled side by side, the entries of one list in turn. The notices of one group take from one
 * allowance, so one list has them all.
 */
function sequencesIn(entries: readonly AgendaEntry[]): Iterable<readonly AgendaEntry[]> {
  const others = entries.filter((entry) => !isOfTask(entry));
  return Map.groupBy(others, ({ subject, document }) => (subject.what === 'notice' ? `group ${subject.group}` : document.id)).values();
}

/** Returns the news of several tasks as one, with the last of the tasks. */
function sumOf(all: readonly TaskNews[]): TaskNews {
  return all.reduce((sum, each) => {
    const [earlier, later] = each.news.lastAt >= sum.news.lastAt ? [sum, each] : [each, sum];
    const opened = sum.news.opened + each.news.opened;
    const reminded = sum.news.reminded + each.news.reminded;
    return { ...earlier, sample: later.sample, news: { opened, reminded, lastAt: later.news.lastAt } };
  });
}
