import type { Step } from '#core/activities/step';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { delay, parallel, sequence, step, workflow } from './workflows.ts';

const undoable = (name: string, agent: string, undo: string): Activity =>
  step(name, { agent, undo: step('undo', { agent, operation: undo }) as Step });

const travel: Activity = {
  activity: 'scope',
  name: 'travel',
  do: sequence(
    'bookings',
    parallel('both', undoable('flight', 'airline', 'cancel'), undoable('hotel', 'rooms', 'release'), step('insure', { agent: 'insurer' })),
    {
      activity: 'choice',
      name: 'visa',
      branches: [
        { when: { $cel: 'order.country in ["GB", "US"] && !order.hasVisa' }, do: undoable('apply', 'consulate', 'withdraw') },
        { when: { $cel: 'order.age < 18.0' }, do: { activity: 'raise', name: 'raise', fault: 'Refused/TooYoung', message: 'too young' } },
      ],
    },
  ),
  faultHandlers: [
    { fault: 'Refused/TooYoung', do: step('call-parents', { agent: 'desk', operation: 'phone' }) },
    {
      fault: 'Refused',
      do: sequence('given-up', { activity: 'compensate', name: 'compensate' }, { activity: 'terminate', name: 'terminate' }),
    },
  ],
};

/** A workflow with one of each activity, and with <names> that must be escaped. */
export const everything: WorkflowDefinition = workflow(
  {
    ...sequence(
      'order',
      { activity: 'assign', name: 'set', variable: 'attempts', value: 0 },
      travel,
      {
        activity: 'retry',
        name: 'retry',
        retries: 2,
        intervalSeconds: 3600,
        except: ['Refused/CardDeclined'],
        undoFirst: true,
        do: sequence(
          'pay',
          undoable('charge-the-customers-preferred-card', 'payment', 'refund-everything-that-was-charged'),
          step('receipt', { agent: 'desk' }),
        ),
      },
      {
        activity: 'forEach',
        name: 'travellers',
        list: { $cel: 'order.travellers' },
        maxConcurrency: 2,
        until: { $cel: 'each.travellers.index > 8.0' },
        do: sequence('one', undoable('ticket', 'airline', 'void'), step('send', { agent: 'desk' })),
      },
      {
        activity: 'while',
        name: 'while',
        condition: { $cel: '!vars.arrived' },
        maxTurns: 48,
        do: sequence('turn', delay('rest', 3600), step('status', { agent: 'airline' }), {
          activity: 'choice',
          name: 'late',
          branches: [{ when: { $cel: 'steps.status.delay > 3.0' }, do: step('apologise', { agent: 'desk', operation: 'tell & soothe' }) }],
          otherwise: { activity: 'assign', name: 'note', variable: 'arrived', value: { $cel: 'steps.status.arrived' } },
        }),
      },
      parallel('end', step('survey', { agent: 'desk' }), step('points', { agent: 'loyalty' })),
    ),
    faultHandlers: [
      { fault: 'Engine', do: step('alert', { agent: 'desk' }) },
      { fault: 'Refused', do: { activity: 'compensate', name: 'compensate', scope: 'travel' } },
    ],
  },
  { name: 'book-travel' },
);
