import { definitionPath, isUndoPath, stepOfUndo, undonePath } from '#core/data/ids';
import type { ProcessState, Status } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { isAnyRuleAbout, type RuleSet } from '#core/rules/rule-set';
import type { RuleEvent } from '#core/rules/situation';
import type { Draft } from './draft.ts';
import type { JournalEntry } from './instance.ts';

/** Something that happened to an order, and the activity that it happened to. */
export interface Happened {
  readonly event: RuleEvent;
  readonly path?: string;
}

/** The kinds of events that follow from what a write does. */
const followingKinds = ['order-state', 'step-state', 'data', 'signal'] as const;

/** Whether a rule may be about what a write does. If not, no event is made. */
export const isAnyRuleAboutWrites = (rules: RuleSet, workflow: string): boolean =>
  followingKinds.some((kind) => isAnyRuleAbout(rules, kind, workflow));

/** The point up to which the rules have been asked about a write: the last line of the journal, and the state of the order. */
export interface AskedSoFar {
  readonly seq: number;
  readonly state: ProcessState | undefined;
}

/** Returns the events of a write that the rules have not been asked about yet, oldest first. */
export function eventsOf(draft: Draft, asked: AskedSoFar): readonly Happened[] {
  const { loaded, instance, now } = draft;
  const news = instance.tail.filter(({ seq }) => seq > loaded.instance.seq);
  const signals = news.flatMap((entry) => [...signalsIn(entry)]);
  const found = [...signals, ...stepStates(draft, news)].filter(({ seq }) => seq > asked.seq).toSorted((a, b) => a.seq - b.seq);
  const events = found.map(({ happened }) => happened);
  const state = orderStateOf(draft);
  const isNew = state !== asked.state;
  return [
    ...events,
    ...(isNew ? [{ event: { id: `order:${state}:${instance.seq}`, kind: 'order-state' as const, at: now, type: state } }] : []),
    ...(instance.seq > asked.seq || isNew ? [{ event: { id: `data:${instance.seq}`, kind: 'data' as const, at: now } }] : []),
  ];
}

/** Returns the process state that the order will have after the write. */
export function orderStateOf({ record, instance: { state } }: Draft): ProcessState {
  if (state.phase === 'closed') return 'Processed';
  return state.blocked ? 'Error' : record.processState;
}

interface Found {
  readonly seq: number;
  readonly happened: Happened;
}

const signalsIn = (entry: JournalEntry): readonly Found[] =>
  entry.type === 'SignalReceived'
    ? [{ seq: entry.seq, happened: { event: { id: `signal:${entry.seq}`, kind: 'signal', at: entry.at, type: entry.name } } }]
    : [];

/** Returns the changes of the steps' statuses, from the lines of the journal. */
function stepStates({ loaded: { program, instance } }: Draft, news: readonly JournalEntry[]): readonly Found[] {
  const statuses = new Map<string, Status>();
  return news.flatMap((entry) => {
    const changed = statusIn(entry);
    if (!changed || !isStep(program, changed.path)) return [];
    const { path, status } = changed;
    const before = statuses.get(path) ?? instance.state.activities[path]?.status;
    if (before === status) return [];
    statuses.set(path, status);
    const first = before === undefined && status === 'Executing' ? (['Initialized', status] as const) : ([status] as const);
    return first.map((each) => ({ seq: entry.seq, happened: { path, event: stepEvent(program, path, each, entry) } }));
  });
}

function statusIn(entry: JournalEntry): { readonly path: string; readonly status: Status } | undefined {
  switch (entry.type) {
    case 'StepRequested':
      return isUndoPath(entry.path) ? { path: undonePath(entry.path), status: 'Compensating' } : { path: entry.path, status: 'Executing' };
    case 'CancelRequested':
      return { path: entry.path, status: 'Canceling' };
    case 'FaultRaised':
    case 'OrderBlocked':
      return { path: entry.path, status: 'Faulting' };
    case 'ActivityClosed':
      return { path: stepOfUndo(entry.path), status: 'Closed' };
    default:
      return undefined;
  }
}

const isStep = (program: Program, path: string): boolean => program.nodes.has(definitionPath(path)) && isRemote(nodeAt(program, path));

function stepEvent(program: Program, path: string, status: Status, { seq, at }: JournalEntry): RuleEvent {
  return { id: `${status}:${path}:${seq}`, kind: 'step-state', at, type: status, ...stepOf(program, path) };
}

/** Returns the step of an event, as rules name it. */
export function stepOf(program: Program, path: string): Pick<RuleEvent, 'step' | 'agent'> {
  const node = nodeAt(program, path);
  return { step: definitionPath(path), ...(isRemote(node) ? { agent: node.agent } : {}) };
}
