import { acknowledgements } from './acknowledgements.ts';
import { agentFaults } from './agent-faults.ts';
import { alerts } from './alerts.ts';
import { announcements } from './announcements.ts';
import { answers } from './answers.ts';
import { batches } from './batches.ts';
import { breakers } from './breakers.ts';
import { budgets } from './budgets.ts';
import { children } from './children.ts';
import { claims } from './claims.ts';
import { closed } from './closed.ts';
import { compensation } from './compensation.ts';
import { confirming } from './confirming.ts';
import { counts } from './counts.ts';
import { damage } from './damage.ts';
import { deadLetter } from './dead-letters.ts';
import { deadlines } from './deadlines.ts';
import { decisions } from './decisions.ts';
import { done } from './done.ts';
import { effects } from './effects.ts';
import { end } from './end.ts';
import { exhaustion } from './exhaustion.ts';
import { expiry } from './expiry.ts';
import { faults } from './faults.ts';
import { fence } from './fence.ts';
import { forgeries } from './forgeries.ts';
import { forgotten } from './forgotten.ts';
import { givenTimes } from './given-times.ts';
import { givenUp } from './given-up.ts';
import { handlers } from './handlers.ts';
import { heartbeats } from './heartbeats.ts';
import { inDoubt } from './in-doubt.ts';
import { inOrder } from './in-order.ts';
import { inputs } from './inputs.ts';
import { instructions } from './instructions.ts';
import { journal } from './journal.ts';
import { kept } from './kept.ts';
import type { Law, Setting } from './law.ts';
import { leaseTimes } from './lease-times.ts';
import { leases } from './leases.ts';
import { limits } from './limits.ts';
import { livelock } from './livelock.ts';
import { longOver } from './long-over.ts';
import { masks } from './masks.ts';
import { newer } from './newer.ts';
import { notices } from './notices.ts';
import { opening } from './opening.ts';
import { outages } from './outages.ts';
import { outbox } from './outbox.ts';
import { ownership } from './ownership.ts';
import { pauses } from './pauses.ts';
import { pinned } from './pinned.ts';
import { poison } from './poison.ts';
import { processState } from './process-state.ts';
import { promptness } from './promptness.ts';
import { quarantined } from './quarantined.ts';
import { reasons } from './reasons.ts';
import { records } from './records.ts';
import { redelivery } from './redelivery.ts';
import { refusals } from './refusals.ts';
import { repeatedRequests } from './repeated-requests.ts';
import { repetitions } from './repetitions.ts';
import { replies } from './replies.ts';
import { requests } from './requests.ts';
import { retries } from './retries.ts';
import { salvage } from './salvage.ts';
import { secrets } from './secrets.ts';
import { signals } from './signals.ts';
import { silence } from './silence.ts';
import { sizes } from './sizes.ts';
import { statuses } from './statuses.ts';
import { stopped } from './stopped.ts';
import { submissions } from './submissions.ts';
import { suspended } from './suspended.ts';
import { threshold } from './threshold.ts';
import { undoOrder } from './undo-order.ts';
import { validMessages } from './valid-messages.ts';
import { versions } from './versions.ts';
import { views } from './views.ts';

export type { Law } from './law.ts';

/** Of what is stored of a damaged order nothing can be expected but what `damage` says. */
const sound = ({ after, ...law }: Law): Law => ({
  ...law,
  ...(after
    ? {
        after: {
          kinds: after.kinds,
          wrongWith: (observation, history) => {
            const orderId = observation.type === 'written' ? observation.after.orderId : '';
            return history.orders.get(orderId)?.damagedAt === undefined ? after.wrongWith(observation, history) : undefined;
          },
        },
      }
    : {}),
});

/** All that must hold, anew for each world: some of them remember. */
export const lawsFor = (setting: Setting): readonly Law[] => [
  outages(),
  kept(setting),
  batches(),
  redelivery(),
  fence(),
  sound(claims()),
  leases(setting),
  leaseTimes(setting),
  processState(),
  sound(pinned()),
  sound(inOrder()),
  newer(),
  ownership(setting),
  submissions(setting),
  refusals(setting),
  decisions(),
  instructions(setting),
  reasons(setting),
  repetitions(),
  journal(),
  records(),
  sound(answers(setting)),
  sound(repeatedRequests()),
  sound(done(setting)),
  sound(replies()),
  inDoubt(setting),
  inputs(setting),
  agentFaults(setting),
  forgeries(setting),
  requests(),
  heartbeats(setting),
  givenTimes(setting),
  longOver(setting),
  sound(faults(setting)),
  acknowledgements(setting),
  outbox(setting),
  effects(setting),
  sound(compensation()),
  undoOrder(),
  sound(confirming(setting)),
  stopped(),
  sound(handlers()),
  sound(expiry(setting)),
  sound(counts()),
  sound(closed(setting)),
  sound(suspended()),
  sound(threshold()),
  sound(exhaustion(setting)),
  sound(pauses(setting)),
  sound(retries(setting)),
  breakers(setting),
  opening(setting),
  budgets(setting),
  children(),
  sound(promptness(setting)),
  livelock(setting),
  signals(),
  silence(),
  alerts(setting),
  announcements(setting),
  notices(setting),
  statuses(),
  poison(),
  deadLetter(),
  validMessages(setting),
  givenUp(setting),
  secrets(setting),
  masks(setting),
  deadlines(setting),
  sizes(),
  limits(),
  forgotten(),
  versions(),
  views(setting),
  damage(),
  salvage(),
  quarantined(),
  end(setting),
];

/** What they remember of an order is not so any more, once it is as it was before. */
const misled: ReadonlySet<string> = new Set([
  'done',
  'handlers',
  'inputs',
  'instructions',
  'journal',
  'newer',
  'repetitions',
  'retries',
  'salvage',
  'signals',
]);
/** They count from the beginning. */
const counting: ReadonlySet<string> = new Set(['alerts', 'statuses']);

/** What holds on once a table was restored. `isLeftBehind`: somebody was at work meanwhile, and what he puts aside stays. */
export function lawsAfterRestore(laws: readonly Law[], isLeftBehind: boolean): readonly Law[] {
  const kept = laws.filter(({ name }) => !misled.has(name) && !(isLeftBehind && name === 'views'));
  return kept.map(({ atEnd, ...law }) => (atEnd && !counting.has(law.name) ? { ...law, atEnd } : law));
}
