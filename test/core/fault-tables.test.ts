import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { type FaultEnd, type FaultPath, faultPathsOf, type HandlerAct, type RetryTaken } from '#core/views/fault-paths';
import { everything } from '../support/everything-drawn.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

const retryText = ({ path, retries: count, intervalSeconds: interval, except, only, undoFirst }: RetryTaken): string =>
  `${path} runs it ${count} times more every ${interval}s${except.length > 0 ? ` except ${except}` : ''}${only ? ` only after ${only}` : ''}${undoFirst ? ' undo first' : ''}`;
const actText = (act: HandlerAct): string =>
  act.kind === 'undoes' ? `undoes ${act.scope}` : act.kind === 'raises' ? `raises ${act.fault}` : act.kind;

function endText(end: FaultEnd): string {
  if (end.kind === 'operator') return end.foreseen ? 'operator, foreseen' : 'operator';
  if (end.kind !== 'handled') return end.kind;
  return [`${end.handler} of ${end.at}`, ...end.does.map(actText), end.goesOn ? 'continues' : 'does not continue'].join(', ');
}

const line = ({ path, fault, origin, retries, askedAgain, end }: FaultPath): string =>
  `${path} ${fault} (${origin}): ${[...retries.map(retryText), ...(askedAgain ? ['requested again'] : []), endText(end)].join('; ')}`;

const raise = (fault: string): Activity => ({ activity: 'raise', name: `raise-${fault}`, fault, message: fault });
const on = (activity: Activity, ...handlers: readonly (readonly [string, Activity])[]): Activity => ({
  ...activity,
  faultHandlers: handlers.map(([fault, body]) => ({ fault, do: body })),
});
const retry = (name: string, body: Activity, more: object = {}): Activity =>
  ({ activity: 'retry', name, retries: 2, intervalSeconds: 5, do: body, ...more }) as unknown as Activity;
const no = (name: string): Activity => step(name, { faults: ['No', 'No/Never', 'Other'] });
const choice = (name: string, one: Activity, otherwise?: Activity): Activity =>
  ({ activity: 'choice', name, branches: [{ when: true, do: one }], ...(otherwise ? { otherwise } : {}) }) as unknown as Activity;
const stop: Activity = { activity: 'terminate', name: 'stop' };
const compensate = (scope?: string): Activity => ({
  activity: 'compensate',
  name: scope ? `undo-${scope}` : 'undo-it',
  ...(scope ? { scope } : {}),
});
const handledWith = (body: Activity): WorkflowDefinition =>
  workflow(sequence('order', on(sequence('inner', no('a')), ['No/Never', body]), step('b')), { toOperator: ['Odd', 'No'] });

const handlers: readonly Activity[] = [
  sequence('h', compensate(), stop),
  sequence('h', compensate('inner'), compensate('order')),
  sequence('h', step('c'), raise('Other')),
  on(sequence('h', raise('Other')), ['Other', step('c')]),
  on(sequence('h', sequence('deep', raise('Other'))), ['Odd', stop], ['Other', stop]),
  choice('h', stop),
  choice('h', stop, raise('Other')),
  choice('h', stop, delay('rest', 1)),
  { activity: 'forEach', name: 'h', list: [1], do: stop },
  { activity: 'while', name: 'h', condition: true, do: raise('Other') } as unknown as Activity,
  parallel('h', delay('rest', 1), stop),
  sequence('h'),
];

const unanswered = on(retry('order', on(retry('inner', step('charge'), { evenPermanent: true }), ['Engine', delay('rest', 1)])), [
  'Engine/ServiceUnavailable',
  stop,
]);
const late = (more: Partial<WorkflowDefinition>): WorkflowDefinition => workflow(unanswered, more);

const written: readonly (readonly [string, WorkflowDefinition])[] = [
  ['each activity once', everything],
  ...(['error', 'wait', 'undo', 'fault'] as const).flatMap((onExhausted) => [
    [`no replies, with onExhausted ${onExhausted}`, late({ onExhausted })] as const,
    [
      `no replies, with onExhausted ${onExhausted}, recovery of the whole order and a time limit`,
      late({ onExhausted, recover: 'order', completeWithinSeconds: 60 }),
    ] as const,
  ]),
  [
    'no replies, and a retry handles that as long as it has runs left',
    workflow(on(retry('order', step('a')), ['Engine', stop]), { onExhausted: 'fault' }),
  ],
  [
    'no replies, and both of two retries handle that',
    workflow(retry('order', retry('q', step('a'), { evenPermanent: true })), { onExhausted: 'fault' }),
  ],
  [
    'no replies, and only the outer one of two retries handles that',
    workflow(
      retry('order', retry('q', step('a'), { evenPermanent: true }), { evenPermanent: true, except: ['Engine/ServiceUnavailable'] }),
      {
        onExhausted: 'fault',
      },
    ),
  ],
  [
    'a fault of a handler that an outer handler handles',
    workflow(on(sequence('order', on(sequence('inner', step('a', { faults: ['No'] })), ['No', raise('Other')])), ['Other', stop])),
  ],
  [
    'nested retries with and without exceptions',
    workflow(
      retry(
        'order',
        on(retry('q', on(sequence('s', no('a'), no('b')), ['Other', no('c')]), { except: ['No/Never'], evenPermanent: true }), [
          'No',
          no('d'),
        ]),
        { evenPermanent: true, undoFirst: true, except: ['Other'], retries: 0 },
      ),
    ),
  ],
  [
    'a retry that names its faults',
    workflow(on(retry('order', no('a'), { only: ['No', 'Engine/DeadlineExceeded'] }), ['No', stop]), { completeWithinSeconds: 60 }),
  ],
  [
    'waits, calls and undos',
    outline(`workflow
  sequence
    sequence whole
      undo back by shop
      wait waits for paid within 5s
      wait-on waits for paid
      ship calls child@1 without undo
      ship-too calls child@1
      ask asks a person "Well?"
      a by shop
        undo un-a by shop
      quote computes quote@1 with 1
    undo by shop
    on Engine
      compensate whole`),
  ],
];

/**
 * `fault-tables.txt`: each fault of these workflows and its handling, one line each; for handlers, the faults that lead
 * to them. `UPDATE_TRANSCRIPTS=1` rewrites the file; review the difference.
 */
test('F-163: the table of all faults of a workflow shows which retry, which handler and which effect each fault has', () => {
  const said = [
    ...handlers.map((body) => [
      `# a handler: ${JSON.stringify(body)}`,
      ...faultPathsOf(handledWith(body)).flatMap((each) => (each.origin === 'engine' ? [] : [line(each)])),
    ]),
    ...written.map(([about, definition]) => [`# ${about}`, ...faultPathsOf(definition).map(line)]),
  ].map((lines) => lines.join('\n'));
  const file = new URL('fault-tables.txt', import.meta.url);
  if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${said.join('\n\n')}\n`);
  const agreed = readFileSync(file, 'utf8').trimEnd().split('\n\n');
  for (const [index, each] of said.entries()) assert.equal(each, agreed[index]);
  assert.equal(said.length, agreed.length);
});
