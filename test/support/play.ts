import assert from 'node:assert/strict';
import type { Transition } from '#core/advance';
import type { Command } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { fault, ok, type Run, rejected, startRun, stepMs } from './run.ts';

/**
 * Plays a story and compares it with the reactions of the system. Each block begins with an event; its other lines are
 * the reactions, and lines with `#` are for the reader. Every event is also checked against the laws in `run.ts`.
 *
 *     start
 *     -> payment order/charge key order/charge/1 attempt 1
 *
 *     ok order/charge {"chargeId": "c1"}
 *     == closed
 */
export function play(definition: WorkflowDefinition, story: string, { order = {} }: { order?: Json } = {}): Run {
  const run = startRun(definition, { order });
  assert.equal(played(run, story), normal(story));
  return run;
}

/** Returns the story with the system's real reactions: the same events and comments, and the output of each. */
export function transcript(definition: WorkflowDefinition, story: string, { order = {} }: { order?: Json } = {}): string {
  return played(startRun(definition, { order }), story);
}

/** Plays the story, and calls `after` after each of its events. */
export function playEach(definition: WorkflowDefinition, story: string, { order = {} }: { order?: Json }, after: (run: Run) => void): void {
  const run = startRun(definition, { order });
  for (const { event } of blocksOf(story)) {
    if (event === undefined) continue;
    verbOf(event)(run);
    after(run);
  }
}

const played = (run: Run, story: string): string =>
  blocksOf(story)
    .map(({ comments, event }) =>
      [...comments, event, ...(event === undefined ? [] : happened(run, event))].filter((line) => line !== undefined).join('\n'),
    )
    .join('\n\n');

const normal = (story: string): string =>
  blocksOf(story)
    .map(({ comments, event, rest }) => [...comments, event, ...rest].filter((line) => line !== undefined).join('\n'))
    .join('\n\n');

const blocksOf = (story: string) =>
  story
    .split(/\n\s*\n/)
    .map((block) =>
      block
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    )
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const comments = lines.filter((line) => line.startsWith('#'));
      const [event, ...rest] = lines.filter((line) => !line.startsWith('#'));
      return { comments, event, rest };
    });

/** Plays one line, and returns the lines that follow from it. */
function happened(run: Run, line: string): readonly string[] {
  const { phase } = run.state;
  const { commands, facts, state } = verbOf(line)(run);
  const blocked = facts.findLast((fact) => fact.type === 'OrderBlocked');
  const released = facts.some(({ type }) => type === 'OrderUnblocked');
  return [
    ...commands.map((command) => commandLine(run, command)),
    ...facts.flatMap((fact) =>
      fact.type === 'UndoFailed' && fact.stuck ? [`!! stuck ${fact.path}${fact.fault ? ` ${fact.fault.type}` : ''}`] : [],
    ),
    ...(blocked ? [`== blocked ${blocked.path} ${blocked.fault.type}`] : released ? ['== unblocked'] : []),
    ...(state.phase === 'closed' && phase !== 'closed' ? [endLine(state)] : []),
  ];
}

const endLine = ({ outcome, failure }: State): string =>
  `== ${outcome === 'completed' ? 'closed' : outcome}${failure ? ` for its caller: ${failure.type}` : ''}`;

type Verb = (run: Run, ...groups: (string | undefined)[]) => Transition;

/** All events: the form of the line, and its effect. */
const verbs: readonly (readonly [RegExp, Verb])[] = [
  [/^start called$/, (run) => run.happen({ type: 'started', stepMs, called: true })],
  [/^compensated by caller$/, (run) => run.happen({ type: 'compensatedByCaller' })],
  [
    /^signal (\S+)(?: (.+))?$/,
    (run, name = '', payload) => run.happen({ type: 'signaled', name, payload: payload ? (JSON.parse(payload) as Json) : null }),
  ],
  [/^answer (.+)$/, (run, answer = '') => run.happen({ type: 'resubmitted', answer: JSON.parse(answer) as Json })],
  [/^mark (\S+)$/, (run, path = '') => run.happen({ type: 'markedCompensated', path })],
  [/^start$/, (run) => run.happen({ type: 'started', stepMs })],
  [/^ok (\S+)(?: (.+))?$/, (run, path = '', output) => run.reply(path, ok(output ? (JSON.parse(output) as Json) : {}))],
  [
    /^fault (\S+) (\S+) (permanent|transient)( unknown)?$/,
    (run, path = '', type, kind, unknown) => run.reply(path, faultOf(type, kind, unknown)),
  ],
  [/^rejected (\S+)$/, (run, path = '') => run.reply(path, rejected)],
  // Sent in time, and delayed on its way.
  [/^slow ok (\S+)$/, (run, path = '') => run.reply(path, ok(), { sentAt: run.latestRequest(path).completeBy })],
  // Sent after its time limit: by an agent with a slow clock, or by an unknown sender.
  [/^late ok (\S+)$/, (run, path = '') => run.reply(path, ok(), { sentAt: run.latestRequest(path).completeBy + 1 })],
  // A reply to an earlier request, counted from the first: `old 1 ok order/charge`.
  [
    /^old (\d+) ok (\S+)$/,
    (run, nth, path = '') => run.reply(path, ok(), { ask: run.requests.filter((ask) => ask.path === path)[Number(nth) - 1] }),
  ],
  [
    /^heartbeat (\S+) (\d+)s$/,
    (run, path = '', seconds) =>
      run.happen({ type: 'heartbeat', requestId: run.latestRequest(path).requestId, completeBy: run.now + Number(seconds) * 1000 }),
  ],
  [
    /^after (\d+)s$/,
    (run, seconds) => {
      run.now += Number(seconds) * 1000;
      return run.happen({ type: 'woken' });
    },
  ],
  [
    /^signal (\S+)(?: (.+))?$/,
    (run, name = '', payload) => run.happen({ type: 'signaled', name, payload: payload ? (JSON.parse(payload) as Json) : null }),
  ],
  [/^answer (.+)$/, (run, answer = 'null') => run.happen({ type: 'resubmitted', answer: JSON.parse(answer) as Json })],
  [/^cancel$/, (run) => run.happen({ type: 'canceled', outcome: 'canceled' })],
  [/^compensate$/, (run) => run.happen({ type: 'canceled', outcome: 'compensated' })],
  [/^terminate$/, (run) => run.happen({ type: 'terminated' })],
  [/^wake$/, (run) => run.happen({ type: 'woken' })],
  [/^expire$/, (run) => run.happen({ type: 'expired' })],
  [/^overdue (\S+)$/, (run, path = '') => run.happen({ type: 'overdue', path })],
  [/^exhaust(?: (\S+))?$/, (run, path) => run.happen({ type: 'exhausted', ...(path ? { path } : {}) })],
  [
    /^reclaim$/,
    (run) => {
      run.epoch += 1;
      return run.happen({ type: 'reclaimed' });
    },
  ],
  [
    /^resubmit(?: completeWithin (\d+)s)?$/,
    (run, seconds) => run.happen({ type: 'resubmitted', ...(seconds ? { completeWithinSeconds: Number(seconds) } : {}) }),
  ],
];

const verbOf = (line: string): ((run: Run) => Transition) => {
  for (const [form, verb] of verbs) {
    const match = form.exec(line);
    if (match) return (run) => verb(run, ...match.slice(1));
  }
  throw new Error(`Nothing of this kind can happen: "${line}".`);
};

const faultOf = (type = '', kind = '', unknown: string | undefined): StepReply =>
  fault(type, { permanent: kind === 'permanent', unknown: unknown !== undefined });

/** One command in words. Defaults are left out: an empty input, the first claim, the default time limit. */
function commandLine(run: Run, command: Command): string {
  if (command.type === 'wake') return `.. wake at ${later(run, command.at)}`;
  if (command.type === 'cancel') return `-> ${command.agent} ${command.path} cancel`;
  const { agent, path, idempotencyKey, attempt, epoch, completeBy, input, confirming } = command;
  const words = [
    `-> ${agent} ${path} key ${idempotencyKey.slice(run.orderId.length + 1)} attempt ${attempt}`,
    ...(confirming ? ['confirming'] : []),
    ...(epoch === 1 ? [] : [`epoch ${epoch}`]),
    ...(completeBy === run.now + stepMs ? [] : [`by ${later(run, completeBy)}`]),
    ...(JSON.stringify(input) === '{}' ? [] : [`with ${JSON.stringify(input)}`]),
  ];
  return words.join(' ');
}

const later = ({ now }: Run, at: number): string => `+${(at - now) / 1000}s`;
