import { withException, withKey } from '#roles/operator/idempotency';
import { addFacts, applyEvent, current, type Draft, takeClaim } from './draft.ts';
import { enterError } from './planned-write.ts';
import { causeOf, detectionOf } from './record-causes.ts';
import { faultOf, recorded } from './recorded-reports.ts';
import { secretsOf } from './redaction.ts';
import { withoutSecrets } from './replies.ts';
import type { Incoming } from './types.ts';

/**
 * Takes an exception from outside (F-164). It blocks an order that has not begun or is running, and the exception manager treats it
 * like any other. On an order that is blocked, suspended, being undone or closed it is recorded, and changes nothing else.
 */
export function report(draft: Draft, { report: given, key }: Extract<Incoming, { type: 'report' }>): Draft {
  const seq = (draft.record.causes ?? 0) + 1;
  const fault = withoutSecrets(faultOf(given), secretsOf(current(draft)));
  const { by, causedBy } = given;
  const taken = { seq, by, ...(causedBy === undefined ? {} : { causedBy }) };
  const noted: Draft = { ...draft, instance: withKey(draft.instance, withException(key, seq)), reported: taken };
  const { record, instance } = noted;
  const { phase, ending } = instance.state;
  const isStopped = record.processState === 'Error' || record.suspended;
  if (!isStopped && phase === 'initialized') {
    const stopped = enterError(noted, fault);
    return addFacts(stopped, detectionOf(stopped, causeOf(stopped, '', fault), seq, [], given.by));
  }
  if (isStopped || phase !== 'running' || ending) return recorded(noted, fault, causedBy);
  // An order that the supervisor took from its scheduler has no claim. It is claimed first, so that all that follows has an epoch.
  return applyEvent(record.lockedBy === null ? takeClaim(noted) : noted, { type: 'reported', fault });
}
