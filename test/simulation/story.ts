import type { Document } from '#ports/documents';
import type { Observation } from '#testing/world/observation';

/** Whether a document is a new task about a destination of people that cannot be reached. */
const isUnreachable = ({ content, rev }: Document): boolean => rev === 1 && content['kind'] === 'dead-letter';

/** Returns the name for counting, such as the queue and type of a message, or the answer to a decision. */
export function kindOf(observation: Observation): string {
  if (observation.type === 'sent') return `sent to ${observation.queue}: ${/"type":"([a-z-]+)"/.exec(observation.body)?.[1]}`;
  if (observation.type === 'published') return `announced ${observation.announcement.detailType}`;
  if (observation.type === 'instructed') return `${observation.decision.kind} ${observation.outcome}`;
  if (observation.type === 'failed') return `${observation.name} thrown`;
  if (observation.type === 'bulk recorded') return `bulk ${observation.document.id.split('#', 1)[0]}`;
  if (observation.type === 'people recorded' && observation.documents.some(isUnreachable)) return 'seen destination unreachable';
  if (observation.type === 'message received') return `seen ${observation.message.type}`;
  if (observation.type === 'metered') return `a write is ${observation.outcome}`;
  if (observation.type === 'agent event') return `agent: ${observation.event.what}`;
  if (observation.type === 'handler') return `consumer ${observation.step}`;
  if (observation.type === 'consumer turned') return `consumer ${observation.state}`;
  return `seen ${observation.type}`;
}

/** Returns the line of the story for an observation. */
export function describe(observation: Observation): string {
  switch (observation.type) {
    case 'written': {
      const { orderId, rev, epoch, processState, outcome, nextDueFor } = observation.after;
      const due = nextDueFor ? `, due for ${nextDueFor.kind} ${nextDueFor.path ?? ''}` : '';
      return `${orderId} is written: rev ${rev}, epoch ${epoch}, ${processState}${outcome ? ` ${outcome}` : ''}${due}`;
    }
    case 'sent':
      return `sent to ${observation.queue}: ${observation.body}`;
    case 'bulk recorded':
      return `recorded: ${observation.document.collection} ${observation.document.id} ${JSON.stringify(observation.document.content)}`;
    case 'people recorded':
      return observation.documents
        .map(({ collection, id, content }) => `recorded: ${collection} ${id} ${JSON.stringify(content)}`)
        .join('\n');
    case 'message removed':
      return `the message ${observation.id} is over`;
    case 'message received':
      return `${JSON.stringify(observation.destination)} gets ${observation.message.id}: ${observation.isConfirmed ? 'confirmed' : 'not confirmed'}`;
    case 'published':
      return `announced: ${observation.announcement.detailType} ${observation.announcement.id}`;
    case 'effect':
      return `${observation.operation} took effect`;
    case 'submitted':
      return `${observation.orderId} is answered: ${observation.outcome}`;
    case 'acknowledged':
      return `acknowledged on ${observation.queue}: ${observation.body}`;
    case 'decided':
      return `${observation.orderId} was decided on as of rev ${observation.seenRev}: ${observation.answer.outcome}`;
    case 'instructed':
      return `${observation.reason} on ${observation.orderId}: ${observation.outcome}`;
    case 'previewed':
      return `${observation.reason} on ${observation.orderId} would lead to ${observation.plan.processState}`;
    case 'repeated':
      return `${observation.key} to ${observation.orderId} came once more: ${observation.outcome}`;
    case 'newer':
      return `${observation.orderId} ${observation.isNewer ? 'is written by a newer program' : 'is given back'}`;
    case 'backs off':
      return `${observation.requestId} is tried again in ${observation.ms} ms`;
    case 'restored':
      return `the table is as it was at ${new Date(observation.asOf).toISOString()}: ${observation.orders.length} orders`;
    case 'damaged':
      return `${observation.orderId} is damaged`;
    case 'viewed':
      return `${observation.orderId} is looked at`;
    case 'lease requested':
      return `${observation.holder} wants ${observation.orderId} for ${observation.leaseMs} ms`;
    case 'locked':
      return `${observation.orderId} is not to be had, after ${observation.afterMs} ms`;
    case 'renewed':
      return `${observation.holder} ${observation.isKept ? 'keeps' : 'does not keep'} ${observation.orderId}`;
    case 'kept':
      return `${observation.orderId} is locked, and keeps ${observation.body}`;
    case 'drained':
      return `${observation.orderId} forgets ${observation.id}`;
    case 'object noted':
      return `${observation.use.path} of ${observation.use.orderId} is noted: ${observation.use.use} of ${observation.object}`;
    case 'metered':
      return `${observation.write} of ${observation.orderId} has ${observation.bytes} bytes: ${observation.outcome}`;
    case 'forgotten':
      return `${observation.orderIds.join(', ')} are forgotten`;
    case 'faults begin':
      return 'from now on something goes wrong';
    case 'entrusted':
      return `${observation.isGood ? 'good' : 'bad'}, to ${observation.queue}: ${observation.body}`;
    case 'handler':
      return `${observation.messageId} of ${observation.queue} ${observation.step} in batch ${observation.batch}`;
    case 'call failed':
      return `${observation.site} fails in batch ${observation.batch}`;
    case 'dropped':
      return `${observation.messageId} is dropped`;
    case 'drop counted':
      return 'a drop is counted';
    case 'failures counted':
      return `${observation.channel} ${observation.conversation} has ${observation.failures} failures`;
    case 'consumer turned':
      return `${observation.channel} is ${observation.state}${observation.isCanary ? ', with a canary' : ''}: ${observation.reason}`;
    case 'purged':
      return `gone: ${observation.body}`;
    case 'delivered':
      return `a function is given ${observation.messages.length} of ${observation.queue}`;
    case 'answered':
      return `${observation.queue}: ${observation.failed.length} of ${observation.came.length} are to come again`;
    case 'visibility changed':
      return `${observation.messageId} is to be shown again after ${observation.afterMs} ms`;
    case 'returned':
      return `${observation.name} returns`;
    case 'refused':
      return `${observation.key} is answered: ${observation.outcome}`;
    case 'posted invalid':
      return `posted, and wrong: ${observation.body}`;
    case 'failed':
      return `${observation.where}: ${observation.name}: ${observation.message}`;
    case 'poisoned':
      return `poison: ${observation.body}`;
    case 'dead-lettered':
      return `dead-lettered: ${observation.message.reason} ${observation.message.body}`;
    case 'clock jumps':
      return `${observation.host} has its clock jump by ${observation.to - observation.from} ms`;
    case 'agent event':
      return `${observation.host} ${observation.agent}: ${JSON.stringify(observation.event)}`;
    case 'signal':
      return `the signal to ${observation.orderId}: ${observation.answer}`;
  }
}
