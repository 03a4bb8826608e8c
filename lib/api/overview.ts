import { lists } from '#ports/lists';
import { timeText } from '#ports/messages';
import { countedMax } from '#ports/order-figures';
import { countUpTo, storedOverview } from '#roles/overview/overview';
import { groupView } from './exceptions.ts';
import type { Refusal } from './problem.ts';
import { unavailable } from './responses.ts';
import { type Answer, type Call, json } from './route.ts';

/** Shows the figures that the supervisor has written last. This call itself counts only the tasks of its caller. */
export async function showOverview({ api, caller }: Call): Promise<Answer | Refusal> {
  const { store } = api;
  const stored = await storedOverview(store);
  // The figures are missing only until the first pass of the supervisor has written them.
  if (!stored) return unavailable;
  const { asOf, tasks, groups, perMinute, error, exceptions = { open: error }, ...figures } = stored.overview;
  const mine = await store.countListed({ list: lists.tasksOfPerson(caller.subject) }, countedMax);
  return json(200, {
    asOf: timeText(asOf),
    ...figures,
    error,
    exceptions,
    tasks: { claimed: 0, ...tasks, mine: countUpTo(mine) },
    groups: groups.map((group) => groupView(group)),
    perMinute: perMinute.map(({ at, ...minute }) => ({ at: timeText(at), ...minute })),
  });
}
