import { webhookSender } from '#adapters/webhooks/sender';
import type { Destination } from '#core/notifications/delivery';
import type { Sender } from '#ports/sender';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { exceptionNote } from '#roles/notifier/exception-notes';
import { createNotifier, type Notifier } from '#roles/notifier/notifier';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { hearerOf } from '#roles/notifier/unattended';
import type { System } from './system.ts';

/** Creates the notifier of a system, with the destinations that its groups and its configuration name. */
export function createSystemNotifier(system: System): Notifier {
  const { store, config } = system;
  const groups = createPeopleGroups(store);
  const usual = usualDestinations(system);
  const isEmpty = async (name: string): Promise<boolean> => {
    const group = await groups.group(name);
    return group !== undefined && group.members.length === 0 && group.notify.length === 0;
  };
  return createNotifier({
    ...system,
    sender: system.sender ?? senderOf(system),
    reminderMs: config.taskReminderMs,
    dueMs: config.taskDueMs,
    consoleUrl: config.consoleUrl,
    isEmpty,
    async destinationsOf(name) {
      // The group of a message may have lost all its people meanwhile.
      const hearer = await groups.group(await hearerOf(name, { isEmpty }));
      return hearer && hearer.notify.length > 0 ? hearer.notify : usual;
    },
    async mutedUntil({ group, key }) {
      const mutes = await allSettledOrThrow([groups.group(group), exceptionNote(store, key)]);
      return Math.max(...mutes.map((each) => each?.mutedUntil ?? 0));
    },
  });
}

/** Returns the destinations of a group that has none of its own. */
const usualDestinations = ({ config: { notify } }: Pick<System, 'config'>): readonly Destination[] => [
  ...(notify.url === undefined ? [] : [{ kind: 'webhook', url: notify.url, credential: notify.credential } as const]),
  ...(notify.topicArn === undefined ? [] : [{ kind: 'sns' } as const]),
];

function senderOf({ config: { notify }, credentials }: Pick<System, 'config' | 'credentials'>): Sender {
  const toWebhook = webhookSender({ hosts: notify.hosts, credentials });
  let toTopic: ReturnType<typeof import('#adapters/aws/sns').snsSender> | undefined;
  return {
    async send(message, destination) {
      if (destination.kind === 'webhook') return toWebhook(message, destination);
      // Loaded on demand: most systems outside of AWS never need it.
      toTopic ??= (await import('#adapters/aws/sns')).snsSender(notify.topicArn);
      return toTopic(message, destination);
    },
  };
}
