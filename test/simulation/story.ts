import type { Happening } from './sight.ts';

/** As it is counted: what is sent by its queue and type, what is announced by its title, what is decided by its answer. */
export function kindOf(happening: Happening): string {
  if (happening.type === 'sent') return `sent to ${happening.queue}: ${/"type":"([a-z-]+)"/.exec(happening.body)?.[1]}`;
  if (happening.type === 'published') return `announced ${happening.announcement.detailType}`;
  if (happening.type === 'instructed') return `${happening.decision.kind} ${happening.outcome}`;
  if (happening.type === 'failed') return `${happening.name} thrown`;
  if (happening.type === 'metered') return `a write is ${happening.outcome}`;
  if (happening.type === 'guarded') return `an agent ${happening.event.what}`;
  return `seen ${happening.type}`;
}

/** A line of the story. */
export function describe(happening: Happening): string {
  switch (happening.type) {
    case 'written': {
      const { orderId, rev, epoch, processState, outcome, nextDueFor } = happening.after;
      const due = nextDueFor ? `, due for ${nextDueFor.kind} ${nextDueFor.path ?? ''}` : '';
      return `${orderId} is written: rev ${rev}, epoch ${epoch}, ${processState}${outcome ? ` ${outcome}` : ''}${due}`;
    }
    case 'sent':
      return `sent to ${happening.queue}: ${happening.body}`;
    case 'published':
      return `announced: ${happening.announcement.detailType} ${happening.announcement.id}`;
    case 'effect':
      return `${happening.operation} took effect`;
    case 'submitted':
      return `${happening.orderId} is answered: ${happening.outcome}`;
    case 'acknowledged':
      return `acknowledged on ${happening.queue}: ${happening.body}`;
    case 'decided':
      return `${happening.orderId} was decided on as of rev ${happening.saw}: ${happening.answer.outcome}`;
    case 'instructed':
      return `${happening.reason} on ${happening.orderId}: ${happening.outcome}`;
    case 'foreseen':
      return `${happening.reason} on ${happening.orderId} would lead to ${happening.plan.processState}`;
    case 'repeated':
      return `${happening.key} to ${happening.orderId} came once more: ${happening.outcome}`;
    case 'newer':
      return `${happening.orderId} ${happening.isNewer ? 'is written by a newer program' : 'is given back'}`;
    case 'rests':
      return `${happening.requestId} is tried again in ${happening.ms} ms`;
    case 'restored':
      return `the table is as it was at ${new Date(happening.asOf).toISOString()}: ${happening.orders.length} orders`;
    case 'damaged':
      return `${happening.orderId} is damaged`;
    case 'looked':
      return `${happening.orderId} is looked at`;
    case 'wanted':
      return `${happening.holder} wants ${happening.orderId} for ${happening.leaseMs} ms`;
    case 'locked':
      return `${happening.orderId} is not to be had, after ${happening.afterMs} ms`;
    case 'renewed':
      return `${happening.holder} ${happening.isKept ? 'keeps' : 'does not keep'} ${happening.orderId}`;
    case 'metered':
      return `${happening.write} of ${happening.orderId} has ${happening.bytes} bytes: ${happening.outcome}`;
    case 'forgotten':
      return `${happening.orderIds.join(', ')} are forgotten`;
    case 'calm is over':
      return 'from now on something goes wrong';
    case 'purged':
      return `gone: ${happening.body}`;
    case 'delivered':
      return `a function is given ${happening.messages.length} of ${happening.queue}`;
    case 'answered':
      return `${happening.queue}: ${happening.failed.length} of ${happening.came.length} are to come again`;
    case 'to be shown':
      return `${happening.messageId} is to be shown again after ${happening.afterMs} ms`;
    case 'returned':
      return `${happening.name} returns`;
    case 'refused':
      return `${happening.key} is answered: ${happening.outcome}`;
    case 'posted wrongly':
      return `posted, and wrong: ${happening.body}`;
    case 'failed':
      return `${happening.where}: ${happening.name}: ${happening.message}`;
    case 'poisoned':
      return `poison: ${happening.body}`;
    case 'dead-lettered':
      return `dead-lettered: ${happening.message.reason} ${happening.message.body}`;
    case 'clock jumps':
      return `${happening.host} has its clock jump by ${happening.to - happening.from} ms`;
    case 'guarded':
      return `${happening.host} ${happening.agent}: ${JSON.stringify(happening.event)}`;
    case 'signal':
      return `the signal to ${happening.orderId}: ${happening.answer}`;
  }
}
