import { acknowledgements } from './acknowledgements.ts';
import { agentFaults } from './agent-faults.ts';
import { alerts } from './alerts.ts';
import { announcements } from './announcements.ts';
import { answers } from './answers.ts';
import { askings } from './askings.ts';
import { batches } from './batches.ts';
import { breakers } from './breakers.ts';
import { budgets } from './budgets.ts';
import { children } from './children.ts';
import { claims } from './claims.ts';
import { closed } from './closed.ts';
import { comesAgain } from './comes-again.ts';
import { compensation } from './compensation.ts';
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
import type { Law, Times } from './law.ts';
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
import { refusals } from './refusals.ts';
import { repetitions } from './repetitions.ts';
import { replies } from './replies.ts';
import { requests } from './requests.ts';
import { retries } from './retries.ts';
import { salvage } from './salvage.ts';
import { secrets } from './secrets.ts';
import { settling } from './settling.ts';
import { signals } from './signals.ts';
import { silence } from './silence.ts';
import { sizes } from './sizes.ts';
import { statuses } from './statuses.ts';
import { stopped } from './stopped.ts';
import { submissions } from './submissions.ts';
import { suspended } from './suspended.ts';
import { threshold } from './threshold.ts';
import { undoOrder } from './undo-order.ts';
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
          wrongWith: (happening, history) => {
            const orderId = happening.type === 'written' ? happening.after.orderId : '';
            return history.orders.get(orderId)?.damagedAt === undefined ? after.wrongWith(happening, history) : undefined;
          },
        },
      }
    : {}),
});

/** All that must hold, anew for each world: some of them remember. */
export const lawsFor = (times: Times): readonly Law[] => [
  outages(),
  kept(),
  batches(),
  comesAgain(),
  fence(),
  sound(claims()),
  leases(times),
  leaseTimes(times),
  processState(),
  sound(pinned()),
  sound(inOrder()),
  newer(),
  ownership(),
  submissions(times),
  refusals(),
  decisions(),
  instructions(),
  reasons(times),
  repetitions(),
  journal(),
  records(),
  sound(answers()),
  sound(askings()),
  sound(done(times)),
  sound(replies()),
  inDoubt(),
  inputs(),
  agentFaults(),
  forgeries(),
  requests(),
  heartbeats(),
  givenTimes(times),
  longOver(times),
  sound(faults()),
  acknowledgements(),
  outbox(times),
  effects(times),
  sound(compensation()),
  undoOrder(),
  sound(settling(times)),
  stopped(),
  sound(handlers()),
  sound(expiry(times)),
  sound(counts()),
  sound(closed(times)),
  sound(suspended()),
  sound(threshold()),
  sound(exhaustion(times)),
  sound(pauses()),
  sound(retries()),
  breakers(times),
  opening(times),
  budgets(times),
  children(),
  sound(promptness(times)),
  livelock(times),
  signals(),
  silence(),
  alerts(),
  announcements(times),
  notices(),
  statuses(),
  poison(),
  deadLetter(),
  givenUp(times),
  secrets(),
  masks(),
  deadlines(),
  sizes(),
  limits(),
  forgotten(),
  versions(),
  views(),
  damage(),
  salvage(),
  quarantined(),
  end(),
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
