import type { DeadDelivery } from '#roles/notifier/deliveries';

/** A message that its destination did not take for a day. */
export const deadDelivery = {
  id: 'ntf_1_0',
  destination: { kind: 'webhook', url: 'https://room.example/claims', credential: 'NOTIFY_SECRET' },
  group: 'claims',
  message: { id: 'ntf_1' },
  tries: 9,
  reason: 'The receiver answered 404; expected 2xx.',
} as unknown as DeadDelivery;
