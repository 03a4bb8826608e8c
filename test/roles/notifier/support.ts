import type { TestContext } from 'node:test';
import type { App } from 'redress';
import type { Destination } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { SendResult } from '#ports/sender';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { createSystemNotifier } from '#runtime/notifier';
import { type Desk, type DeskOptions, failed, openDesk, submitted } from '../support.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A message as a destination has got it. */
export interface Got {
  readonly to: string;
  readonly at: number;
  readonly message: PeopleMessage;
}

export interface NotifierDesk extends Desk {
  readonly got: Got[];
  /** Sets how destinations answer from now on. */
  answers(how: (to: string) => SendResult): void;
  /** One pass of the notifier. */
  pass(): Promise<void>;
  /** Lets time pass, with a pass of the notifier each so often. */
  during(ms: number, everyMs?: number): Promise<void>;
  notifies(group: string, ...urls: readonly string[]): Promise<void>;
  /** Blocks an order with a fault of the step at work. */
  blocked(type?: string, message?: string): Promise<string>;
}

const delivered: SendResult = { outcome: 'delivered' };
const textOf = (destination: Destination): string => (destination.kind === 'webhook' ? destination.url : (destination.topicArn ?? 'topic'));

/** Opens a desk with a notifier whose destinations only write down what they get. */
export function openNotifier(context: TestContext, app: App, options: DeskOptions = {}): NotifierDesk {
  const desk = openDesk(context, app, { ...options, variables: { NOTIFY_URL: 'https://usual.example/hook', ...options.variables } });
  const got: Got[] = [];
  let answer: (to: string) => SendResult = () => delivered;
  const sender = {
    send: async (message: PeopleMessage, destination: Destination): Promise<SendResult> => {
      const to = textOf(destination);
      const result = answer(to);
      if (result.outcome === 'delivered') got.push({ to, at: desk.clock.now(), message });
      return result;
    },
  };
  const notifier = createSystemNotifier({ ...desk.system, sender });
  const groups = createPeopleGroups(desk.store);
  const notifierDesk: NotifierDesk = {
    ...desk,
    got,
    answers: (how) => {
      answer = how;
    },
    pass: () => notifier.pass(),
    async during(ms, everyMs = minuteMs) {
      for (let passedMs = 0; passedMs < ms; passedMs += everyMs) {
        await desk.clock.advance(everyMs);
        await notifier.pass();
      }
    },
    async notifies(name, ...urls) {
      const notify = urls.map((url) => ({ kind: 'webhook', url, credential: 'SECRET' }) as const);
      await groups.put({ name, rev: 1, members: [], notify, by: 'ann', at: 0, reason: 'test' }, []);
    },
    async blocked(type = 'Broken', message = 'shelf 17 is empty') {
      const orderId = await submitted(desk);
      await desk.answer(await desk.request(), failed(type, message));
      return orderId;
    },
  };
  return notifierDesk;
}
