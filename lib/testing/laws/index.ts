import { acceptedOrders } from './accepted-orders.ts';
import { acknowledgements } from './acknowledgements.ts';
import { agentFaults } from './agent-faults.ts';
import { alerts } from './alerts.ts';
import { announcements } from './announcements.ts';
import { answers } from './answers.ts';
import { audit } from './audit.ts';
import { backoff } from './backoff.ts';
import { batches } from './batches.ts';
import { bookkeeping } from './bookkeeping.ts';
import { breakerTransitions } from './breaker-transitions.ts';
import { bulkOutcomes } from './bulk-outcomes.ts';
import { bulkSets } from './bulk-sets.ts';
import { bulkStops } from './bulk-stops.ts';
import { calledOrders } from './called-orders.ts';
import { canceledCalls } from './canceled-calls.ts';
import { canceledSteps } from './canceled-steps.ts';
import { causes } from './causes.ts';
import { circuitBreakers } from './circuit-breakers.ts';
import { claims } from './claims.ts';
import { closedChannels } from './closed-channels.ts';
import { compensation } from './compensation.ts';
import { completedSteps } from './completed-steps.ts';
import { conditionalInstructions } from './conditional-instructions.ts';
import { confirmation } from './confirmation.ts';
import { consumerCanary } from './consumer-canary.ts';
import { consumerCounts } from './consumer-counts.ts';
import { consumerMessages } from './consumer-messages.ts';
import { consumerNeighbors } from './consumer-neighbors.ts';
import { damagedOrders } from './damaged-orders.ts';
import { deadLetters } from './dead-letters.ts';
import { effects } from './effects.ts';
import { endState } from './end-state.ts';
import { exhaustedSteps } from './exhausted-steps.ts';
import { expiry } from './expiry.ts';
import { failedMessages } from './failed-messages.ts';
import { failureCounts } from './failure-counts.ts';
import { failureThreshold } from './failure-threshold.ts';
import { faultHandlers } from './fault-handlers.ts';
import { faults } from './faults.ts';
import { fence } from './fence.ts';
import { finishedOrders } from './finished-orders.ts';
import { forgedReplies } from './forged-replies.ts';
import { givenHandlers } from './given-handlers.ts';
import { handledExceptions } from './handled-exceptions.ts';
import { heardTasks } from './heard-tasks.ts';
import { heartbeats } from './heartbeats.ts';
import { inputs } from './inputs.ts';
import { instructions } from './instructions.ts';
import { invalidSubmissions } from './invalid-submissions.ts';
import { journal } from './journal.ts';
import { keptFirst } from './kept-first.ts';
import type { Law, Setting } from './law.ts';
import { leaseDurations } from './lease-durations.ts';
import { leases } from './leases.ts';
import { livelock } from './livelock.ts';
import { messageLimits } from './message-limits.ts';
import { newerRecords } from './newer-records.ts';
import { olderProcesses } from './older-processes.ts';
import { keptMessages, orderLocks } from './order-locks.ts';
import { outbox } from './outbox.ts';
import { overdueRequests } from './overdue-requests.ts';
import { ownership } from './ownership.ts';
import { peopleMessages } from './people-messages.ts';
import { pinnedVersions } from './pinned-versions.ts';
import { poisonMessages } from './poison-messages.ts';
import { processState } from './process-state.ts';
import { quarantine } from './quarantine.ts';
import { rebuiltOrders } from './rebuilt-orders.ts';
import { recordedEvents } from './recorded-events.ts';
import { records } from './records.ts';
import { maskedFaults, recoveredScopes } from './recoveries.ts';
import { redaction } from './redaction.ts';
import { redelivery } from './redelivery.ts';
import { refusalReasons } from './refusal-reasons.ts';
import { reminders } from './reminders.ts';
import { repeatedInstructions } from './repeated-instructions.ts';
import { repeatedRequests } from './repeated-requests.ts';
import { replies } from './replies.ts';
import { replyDeadlines } from './reply-deadlines.ts';
import { reportedErrors } from './reported-errors.ts';
import { requestDeadlines } from './request-deadlines.ts';
import { requests } from './requests.ts';
import { retention } from './retention.ts';
import { retries } from './retries.ts';
import { retryBudgets } from './retry-budgets.ts';
import { secrets } from './secrets.ts';
import { sequenceOrder } from './sequence-order.ts';
import { signals } from './signals.ts';
import { sizeLimits } from './size-limits.ts';
import { statusMessages } from './status-messages.ts';
import { statusSequence } from './status-sequence.ts';
import { stepReports } from './step-reports.ts';
import { storeLimits } from './store-limits.ts';
import { submissions } from './submissions.ts';
import { suspendedOrders } from './suspended-orders.ts';
import { undoOrder } from './undo-order.ts';
import { undoneWrites } from './undone-writes.ts';
import { unknownOutcomes } from './unknown-outcomes.ts';
import { validMessages } from './valid-messages.ts';

export type { Law } from './law.ts';

/** Exempts the writes of damaged orders from a law, because a damaged record proves nothing. `damagedOrders` covers them. */
const exceptDamaged = ({ after, ...law }: Law): Law => ({
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

/** All laws. A new law needs a file and one line here. */
const laws: readonly ((setting: Setting) => Law)[] = [
  handledExceptions,
  givenHandlers,
  reportedErrors,
  acceptedOrders,
  batches,
  redelivery,
  fence,
  () => exceptDamaged(claims()),
  leases,
  orderLocks,
  keptMessages,
  keptFirst,
  undoneWrites,
  maskedFaults,
  recoveredScopes,
  leaseDurations,
  processState,
  () => exceptDamaged(pinnedVersions()),
  () => exceptDamaged(sequenceOrder()),
  newerRecords,
  ownership,
  submissions,
  invalidSubmissions,
  conditionalInstructions,
  instructions,
  refusalReasons,
  repeatedInstructions,
  (setting) => exceptDamaged(audit(setting)),
  journal,
  records,
  (setting) => exceptDamaged(answers(setting)),
  () => exceptDamaged(repeatedRequests()),
  (setting) => exceptDamaged(completedSteps(setting)),
  () => exceptDamaged(replies()),
  unknownOutcomes,
  inputs,
  agentFaults,
  forgedReplies,
  requests,
  heartbeats,
  requestDeadlines,
  overdueRequests,
  (setting) => exceptDamaged(faults(setting)),
  acknowledgements,
  outbox,
  effects,
  () => exceptDamaged(compensation()),
  undoOrder,
  (setting) => exceptDamaged(confirmation(setting)),
  canceledSteps,
  () => exceptDamaged(faultHandlers()),
  (setting) => exceptDamaged(expiry(setting)),
  () => exceptDamaged(failureCounts()),
  (setting) => exceptDamaged(closedChannels(setting)),
  () => exceptDamaged(suspendedOrders()),
  () => exceptDamaged(failureThreshold()),
  (setting) => exceptDamaged(exhaustedSteps(setting)),
  (setting) => exceptDamaged(backoff(setting)),
  (setting) => exceptDamaged(retries(setting)),
  circuitBreakers,
  breakerTransitions,
  retryBudgets,
  calledOrders,
  (setting) => exceptDamaged(canceledCalls(setting)),
  livelock,
  signals,
  finishedOrders,
  alerts,
  () => exceptDamaged(causes()),
  announcements,
  statusMessages,
  statusSequence,
  poisonMessages,
  deadLetters,
  validMessages,
  failedMessages,
  consumerMessages,
  consumerNeighbors,
  consumerCounts,
  consumerCanary,
  secrets,
  redaction,
  replyDeadlines,
  sizeLimits,
  storeLimits,
  retention,
  olderProcesses,
  stepReports,
  damagedOrders,
  rebuiltOrders,
  () => exceptDamaged(recordedEvents()),
  quarantine,
  bulkSets,
  bulkOutcomes,
  bulkStops,
  peopleMessages,
  messageLimits,
  heardTasks,
  reminders,
  bookkeeping,
  endState,
];

/** Returns all laws for one world. Laws keep state, so each world needs its own. */
export const lawsFor = (setting: Setting): readonly Law[] => laws.map((law) => law(setting));

/** Laws whose memory of an order is wrong after its table was restored to an earlier time. */
const invalidAfterRestore: ReadonlySet<string> = new Set([
  'causes',
  'completed steps',
  'fault handlers',
  'inputs',
  'instructions',
  'journal',
  'newer records',
  'repeated instructions',
  'retries',
  'rebuilt orders',
  'recorded events',
  'signals',
]);
/** Laws whose check at the end counts everything since the first write. */
const countingFromStart: ReadonlySet<string> = new Set(['alerts', 'status sequence']);

/**
 * Returns the laws that still hold after a restore, without the checks at the end that no longer hold. `hasOldProcess`: a process from
 * before the restore went on, and the journal pages that it wrote remain.
 */
export function lawsAfterRestore(laws: readonly Law[], hasOldProcess: boolean): readonly Law[] {
  const kept = laws.filter(({ name }) => !invalidAfterRestore.has(name) && !(hasOldProcess && name === 'step reports'));
  return kept.map(({ atEnd, ...law }) => (atEnd && !countingFromStart.has(law.name) ? { ...law, atEnd } : law));
}
