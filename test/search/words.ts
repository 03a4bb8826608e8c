import type { Message, Wish } from './runs.ts';
import { agentAt, at, schedulerAt, supervisorAt } from './state.ts';

export const nameOf = (place: number): string =>
  ({
    [at.submission]: 'the API',
    [at.cancellation]: 'the client',
    [schedulerAt[0]]: 'scheduler A',
    [schedulerAt[1]]: 'scheduler B',
    [supervisorAt[0]]: 'supervisor A',
    [supervisorAt[1]]: 'supervisor B',
    [agentAt[0]]: 'agent A',
    [agentAt[1]]: 'agent B',
  })[place] ?? `place ${place}`;

export const text = ({ queue, body }: Message): string => {
  const { type, requestId, result } = JSON.parse(body) as { type: string; requestId?: string; result?: { status: string } };
  return `${type}${requestId ? ` ${requestId}` : ''}${result ? ` (${result.status})` : ''} from ${queue}`;
};

export const words = (wish: Wish): string => {
  switch (wish.to) {
    case 'send':
      return `sends ${wish.messages.map((message) => text(message)).join(', ')}`;
    case 'publish':
      return `announces ${wish.announcements.map(({ id }) => id).join(', ')}`;
    case 'serve':
      return `asks the service to ${wish.operation} under ${wish.key}`;
    case 'update':
      return `writes rev ${wish.record.rev} (${wish.record.outcome ?? wish.record.processState}, epoch ${wish.record.epoch})`;
    case 'patch':
      return `writes rev ${wish.head.rev} without the instance (${wish.head.processState})`;
    case 'create':
      return 'creates the order';
    default:
      return `reads (${wish.to})`;
  }
};
