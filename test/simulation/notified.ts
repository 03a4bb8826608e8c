import type { Destination } from '#core/notifications/delivery';
import type { PeopleGroup } from '#core/notifications/people-group';
import type { Documents } from '#ports/documents';
import { exceptionGroups } from '#roles/exceptions/groups';
import { changeNote } from '#roles/notifier/exception-notes';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { createTasks, type PersonsAct } from '#roles/tasks/tasks';
import { offers } from './app.ts';
import type { Clients, Reach } from './clients.ts';
import { type Chance, isIn, restoredIn } from './random.ts';
import { firstLivesIn } from './second-lives.ts';
import { limitedIn } from './wide.ts';

const theme = 18;
const within = 400_000;
const muteMs = [30_000, 1_200_000] as const;
const names = ['ada', 'grace', 'joan'] as const;
/** The groups of people that the tasks of these worlds name. */
const groups = ['operators', 'desk', 'leads', 'admins'] as const;

/** The settings with which tasks are due soon, so that people are reminded in a short world. */
export const dueSoon = { TASK_DUE_SECONDS: '900', TASK_REMINDER_SECONDS: '300' } as const;

/** Returns the random sequence of messages for people; undefined if this world has no notifier. */
export const notifiedIn = (seed: number): Chance | undefined =>
  // Two kinds of worlds have no notifier: a restore leaves the records of tasks as they are, and forgotten orders take their tasks with
  // them.
  restoredIn(seed) || (!limitedIn(seed) && firstLivesIn(seed)) ? undefined : isIn(seed, theme);

/** In one world of fifteen, people hear of their tasks, claim and comment them, and change what they hear of. */
export function notifyPeople(reach: Reach, clients: Clients, chance: Chance | undefined): void {
  if (!chance) return;
  const { around } = reach;
  around.carriedOut('emitted worlds with a notifier');
  for (let changes = chance.between(0, 3); changes > 0; changes--) putGroup(reach, clients, chance);
  for (let number = chance.between(5, 12); number > 0; number--) {
    const orderId = clients.submitSomething(1300 + number, chance.pick(offers));
    // Operators leave this order alone while faults last, so its task stays open.
    if (chance.happens(0.5)) clients.leftToRuns.add(orderId);
  }
  for (let acts = chance.between(6, 14); acts > 0; acts--)
    around.timeline.after(chance.between(20_000, within), 'somebody looks at the tasks', () => act(reach, clients, chance));
  for (let mutes = chance.between(0, 3); mutes > 0; mutes--)
    around.timeline.after(chance.between(20_000, within), 'somebody mutes', () => mute(reach, clients, chance));
}

/** Writes the groups of people before anything happens. */
export async function foundGroups(store: Documents, chance: Chance, now: number): Promise<void> {
  for (const name of groups) await createPeopleGroups(store).put({ ...groupFrom(name, chance, now), rev: 1 }, []);
}

/** Changes a group of people. */
function putGroup({ around }: Reach, clients: Clients, chance: Chance): void {
  const name = chance.pick(groups);
  const afterMs = chance.between(1000, within);
  const group = groupFrom(name, chance, around.timeline.now + afterMs);
  around.timeline.after(afterMs, `an admin changes the group ${name}`, () =>
    clients.persist('desk', clients.nameFor('group'), async ({ system: { store } }) => {
      const people = createPeopleGroups(store);
      const rev = ((await people.group(name))?.rev ?? 0) + 1;
      return (await people.put({ ...group, rev }, [])).outcome === 'written';
    }),
  );
}

/** Returns a group with destinations, or without people and destinations, or muted for a while. */
function groupFrom(name: (typeof groups)[number], chance: Chance, at: number): Omit<PeopleGroup, 'rev'> {
  const isEmpty = name !== 'admins' && chance.happens(0.15);
  const notify = isEmpty ? [] : Array.from({ length: chance.between(1, 2) }, (_, index) => hookOf(name, chance.between(0, 1) * 2 + index));
  const muted = chance.happens(0.1) ? { mutedUntil: at + chance.between(...muteMs) } : {};
  return { name, members: isEmpty ? [] : [...names], notify, by: 'root', at, reason: 'a change', ...muted };
}

const hookOf = (group: string, number: number): Destination => ({
  kind: 'webhook',
  url: `https://${group}-${number}.example/hook`,
  credential: 'NOTIFY_SECRET',
});

/** A person claims, releases, assigns or comments one of the first open tasks. */
function act({ around }: Reach, clients: Clients, chance: Chance): void {
  const by = chance.pick(names);
  const key = clients.nameFor('act');
  const what = chance.pick<PersonsAct['act']>([
    { action: 'claim' },
    { action: 'claim' },
    { action: 'release' },
    { action: 'assign', assignee: chance.pick(names) },
    { action: 'assign', group: chance.pick(groups) },
    { action: 'comment', text: 'I look at it.' },
  ]);
  const place = chance.between(0, 9);
  let chosen: string | undefined;
  clients.persist('desk', key, async ({ system: { store, clock } }) => {
    const tasks = createTasks({ store, clock });
    const { items } = await tasks.list({}, undefined, 10);
    // A repetition under the same key must have the same content.
    chosen ??= items[place % Math.max(1, items.length)]?.id;
    if (chosen === undefined) return true;
    const { outcome } = await tasks.act(chosen, { act: what, by, isAdmin: by === 'ada', key });
    around.carriedOut(`emitted task ${what.action} ${outcome}`);
    return true;
  });
}

/** A person mutes alike exceptions for a while. */
function mute({ around }: Reach, clients: Clients, chance: Chance): void {
  const forMs = chance.between(...muteMs);
  clients.persist('desk', clients.nameFor('mute'), async ({ system: { store, clock } }) => {
    const [group] = await exceptionGroups(store, clock.now());
    if (!group) return true;
    const at = clock.now();
    await changeNote(store, group.fingerprint, { mutedUntil: at + forMs }, { by: 'ada', at, beside: () => [] });
    around.carriedOut('emitted exceptions muted');
    return true;
  });
}
