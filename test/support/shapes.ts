import fc from 'fast-check';
import type { ForEach } from '#core/activities/for-each';
import type { Retry } from '#core/activities/retry';
import type { Step } from '#core/activities/step';
import type { Activity, FaultHandler, Template, WorkflowDefinition } from '#core/definition/definition';
import { delay, sequence, step, workflow } from './workflows.ts';
import './own-activities.ts';

/** Random definitions with every activity type. Each activity has a unique name. */
export interface Shape {
  readonly kind: Kind;
  /** A number that each kind uses in its own way. */
  readonly number: number;
  readonly flags: number;
  readonly inside: readonly Shape[];
  readonly handlers: readonly { readonly fault: string; readonly do: Shape }[];
}

type Kind = (typeof leaves)[number] | (typeof composites)[number];
const leaves = [
  'step',
  'undoable',
  'call',
  'delay',
  'waitFor',
  'answered',
  'askOperator',
  'compute',
  'fuse',
  'assign',
  'raise',
  'compensate',
  'terminate',
  'broken',
] as const;
const composites = ['sequence', 'parallel', 'scope', 'choice', 'while', 'forEach', 'retry', 'ensure'] as const;

/** Some kinds are more frequent, so that many faults meet a handler. */
export const faultTypes = ['Refused', 'Refused/CardDeclined', 'Refused', 'Busy', 'Refused/CardDeclined', 'Other'] as const;

export const signals = ['paid', 'seen'] as const;

const number = fc.nat(60);
const flags = fc.nat(63);
const leaf: fc.Arbitrary<Shape> = fc.record({
  kind: fc.oneof(
    { weight: 16, arbitrary: fc.constant('undoable' as const) },
    { weight: 10, arbitrary: fc.constant('step' as const) },
    { weight: 4, arbitrary: fc.constant('call' as const) },
    { weight: 4, arbitrary: fc.constantFrom('delay' as const, 'assign' as const, 'raise' as const) },
    { weight: 4, arbitrary: fc.constantFrom('waitFor' as const, 'askOperator' as const, 'compute' as const, 'fuse' as const) },
    { weight: 4, arbitrary: fc.constant('compensate' as const) },
    { weight: 4, arbitrary: fc.constant('answered' as const) },
    { weight: 2, arbitrary: fc.constantFrom('broken' as const, 'delay' as const, 'terminate' as const) },
  ),
  number,
  flags,
  inside: fc.constant([]),
  handlers: fc.constant([]),
});

const compositeOf = (inside: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.record({
    kind: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('sequence' as const, 'parallel' as const) },
      { weight: 1, arbitrary: fc.constantFrom('retry' as const, 'ensure' as const) },
      { weight: 3, arbitrary: fc.constantFrom(...composites) },
    ),
    number,
    flags,
    inside: fc.array(inside, { minLength: 1, maxLength: 3, size: 'max' }),
    handlers: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(fc.record({ fault: fc.constantFrom(...faultTypes, 'Engine'), do: inside }), { minLength: 1, maxLength: 2 }),
      },
    ),
  });

/** Composites to a depth of 6, leaves below. */
const shapes = fc.memo(
  (depth): fc.Arbitrary<Shape> =>
    depth <= 1 ? leaf : fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 3, arbitrary: compositeOf(shapes(depth - 1)) }),
);

export const roots: fc.Arbitrary<Shape> = compositeOf(shapes(5));

/** Context of a generated activity: it decides which kinds are allowed there. */
interface Place {
  next: () => number;
  /** Whether it is inside the body of a handler: only there may a `compensate` stand. */
  readonly handles: boolean;
  /** Levels of loops around it; they multiply. */
  readonly loops: number;
}

/** `toCaller`: faults that end a called order. */
export function definitionOf(shape: Shape, toCaller: readonly string[] = []): WorkflowDefinition {
  let last = 0;
  const next = () => {
    last += 1;
    return last;
  };
  const root = activityOf(shape, { next, handles: false, loops: 0 });
  return workflow(root, { completeWithinSeconds: 1_000_000, ...(toCaller.length > 0 ? { toCaller } : {}) });
}

function activityOf(shape: Shape, place: Place): Activity {
  const bare = isComposite(shape.kind) ? compositeFrom(shape, place) : leafFrom(shape, place);
  const made = isComposite(shape.kind) && shape.flags % 5 === 4 ? { ...bare, undo: undoBy({ whole: true }) } : bare;
  if (shape.handlers.length === 0) return made;
  const faultHandlers = shape.handlers.map(({ fault, do: body }): FaultHandler => {
    const compensates = shape.flags % 2 === 0 && !place.handles;
    const inner = activityOf(body, { ...place, handles: true });
    const compensate: Activity = { activity: 'compensate', name: `compensate${place.next()}` };
    return { fault, do: compensates ? sequence(`handler${place.next()}`, compensate, inner) : inner };
  });
  return { ...made, faultHandlers };
}

const isComposite = (kind: Kind): boolean => (composites as readonly string[]).includes(kind);

const undoBy = (input: Template, agent = 'agent'): Step => step('undo', { agent, operation: 'undo', input }) as Step;

/** An undo whose input is the step's own output, and sometimes also a value that may be missing. */
const undoOf = (name: string, number: number, agent = 'agent'): Step =>
  undoBy({ of: { $cel: `steps.${name}.key` }, ...(number % 20 === 19 ? { needs: { $cel: 'vars.v1' } } : {}) }, agent);

/** Agents that look up an effect by its key, some of them at most once; others do it again, with the same result. */
const servedBy = (flags: number): Partial<Omit<Step, 'activity' | 'name'>> =>
  [{}, {}, { agent: 'looker', lookup: true as const }, { agent: 'looker', lookup: true as const, atMostOnce: true as const }][flags % 4] ??
  {};

/**
 * A step beside a signal, requested with the signal's payload if it has arrived: it may arrive between two requests.
 */
const besideFrom = (name: string, number: number, flags: number): Activity => ({
  activity: 'parallel',
  name,
  children: [
    { activity: 'waitFor', name: `heard-${name}`, signal: signals[flags % 2] ?? '' },
    step(`tell-${name}`, {
      ...servedBy(flags),
      input: { $cel: `{"heard": orElse(steps[?"heard-${name}"], 0)}` },
      ...(number % 4 === 3 ? {} : { undo: undoOf(`tell-${name}`, number) }),
    }),
  ],
});

/** A step whose input is the payload of a signal: each run of a retry around it waits for another signal. */
const answeredFrom = (name: string, number: number, flags: number): Activity =>
  sequence(
    name,
    { activity: 'waitFor', name: `signal-${name}`, signal: signals[flags % 2] ?? '' },
    step(`use-${name}`, {
      ...servedBy(flags),
      input: { $cel: `{"signal": steps["signal-${name}"]}` },
      ...(number % 8 === 7 ? {} : number % 4 === 3 ? { noUndo: true as const } : { undo: undoOf(`use-${name}`, number) }),
    }),
  );

function leafFrom(shape: Shape, { next, handles }: Place): Activity {
  const { kind, number, flags } = shape;
  const name = `${kind}${next()}`;
  const faultType = faultTypes[flags % faultTypes.length] ?? 'Other';
  switch (kind) {
    case 'undoable':
      return step(name, { ...servedBy(flags), undo: undoOf(name, number) });
    case 'call':
      return {
        activity: 'call',
        name,
        agent: 'workflows',
        operation: 'child@1',
        input: { number },
        ...(number % 5 === 4 ? {} : { undo: undoOf(name, number, 'workflows') }),
      };
    case 'waitFor':
      return { activity: 'waitFor', name, signal: signals[flags % 2] ?? '', ...(number % 3 === 0 ? { withinSeconds: number } : {}) };
    case 'answered':
      return number % 3 === 2 ? besideFrom(name, number, flags) : answeredFrom(name, number, flags);
    case 'askOperator':
      return { activity: 'askOperator', name, question: flags % 8 === 7 ? { $cel: 'vars.v2' } : 'What now?' };
    case 'compute':
      return { activity: 'compute', name, function: 'double@1', input: flags % 4 === 3 ? 'two' : number };
    case 'fuse':
      return { activity: 'story:fuse', name, seconds: number, faults: [faultType] };
    case 'delay':
      return delay(name, number);
    case 'assign':
      return { activity: 'assign', name, variable: `v${flags % 3}`, value: number };
    case 'raise':
      return handles && flags % 2 === 1 ? { activity: 'rethrow', name } : { activity: 'raise', name, fault: faultType, message: 'Raised.' };
    case 'compensate':
      return handles ? { activity: 'compensate', name } : step(name);
    case 'terminate':
      return flags % 8 === 0 ? { activity: 'terminate', name } : step(name);
    case 'broken':
      // The step's input may be missing, which raises a fault of the engine.
      return flags % 4 === 0 ? step(name, { input: { needs: { $cel: 'vars.v1' } } }) : delay(name, 0);
    default:
      return step(name, flags % 4 === 0 ? { completeWithinSeconds: 1 + number } : {});
  }
}

function compositeFrom({ kind, number, flags, inside }: Shape, place: Place): Activity {
  const name = `${kind}${place.next()}`;
  const isLoop = kind === 'while' || kind === 'forEach' || kind === 'retry';
  if (isLoop && place.loops >= 2) return sequence(name, ...inside.map((each) => activityOf(each, place)));
  const children = inside.map((each) => activityOf(each, isLoop ? { ...place, loops: place.loops + 1 } : place));
  const body = (): Activity => (children.length === 1 && children[0] ? children[0] : sequence(`body${place.next()}`, ...children));
  switch (kind) {
    case 'parallel':
      return { activity: 'parallel', name, children };
    case 'scope':
      return { activity: 'scope', name, do: body() };
    case 'choice':
      return choiceFrom(name, flags, children);
    case 'while':
      return whileFrom(name, number % 4, body());
    case 'forEach':
      return listedFrom(name, flags, forEachFrom(name, number, flags, body()));
    case 'retry':
      return retryFrom(name, number, flags, body());
    case 'ensure':
      return ensureFrom(name, children);
    default:
      return sequence(name, ...children);
  }
}

const ensureFrom = (name: string, [first, ...others]: readonly Activity[]): Activity => ({
  activity: 'story:ensure',
  name,
  do: first,
  last: others.length === 0 ? step(`last-${name}`) : sequence(`last-${name}`, ...others),
});

function choiceFrom(name: string, flags: number, [first, ...others]: readonly Activity[]): Activity {
  const branches = first ? [{ when: flags % 16 === 15 ? { $cel: 'vars.v2 > 30' } : flags % 2 === 0, do: first }] : [];
  const [second, third] = others;
  const more = third && second ? [...branches, { when: { $cel: 'orElse(vars.?v0, 0) > 30' }, do: second }] : branches;
  const otherwise = third ?? second;
  return { activity: 'choice', name, branches: more, ...(otherwise ? { otherwise } : {}) };
}

function whileFrom(name: string, turns: number, body: Activity): Activity {
  const count = `orElse(vars.?count_${name}, 0)`;
  const counting: Activity = { activity: 'assign', name: `count-${name}`, variable: `count_${name}`, value: { $cel: `${count} + 1` } };
  return { activity: 'while', name, condition: { $cel: `${count} < ${turns}` }, do: sequence(`turn-${name}`, counting, body) };
}

function forEachFrom(name: string, number: number, flags: number, body: Activity): ForEach {
  const list = Array.from({ length: number % 4 }, (_, index) => index);
  const until = [undefined, undefined, { $cel: `each.${name}.index >= 1` }, true, { $cel: 'vars.v2 > 10' }][flags % 5];
  const maxConcurrency = [undefined, 1, 2][number % 3];
  return {
    activity: 'forEach',
    name,
    list,
    do: body,
    ...(until === undefined ? {} : { until }),
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
  };
}

const retryFrom = (name: string, number: number, flags: number, body: Activity): Activity =>
  flags % 4 === 1 ? { activity: 'story:again', name, retries: number % 3, do: body } : builtInRetryFrom(name, number, flags, body);

/** A loop that collects the numbers of its turns, followed by a step with all of them as its input. */
function listedFrom(name: string, flags: number, loop: ForEach): Activity {
  if (flags % 3 !== 0) return loop;
  const collecting = { ...loop, collect: { $cel: `each.${name}.index` } };
  const listed = step(`listed-${name}`, {
    ...servedBy(flags),
    input: { $cel: `{"list": steps.${name}}` },
    undo: undoOf(`listed-${name}`, flags),
  });
  return sequence(`all-${name}`, collecting, listed);
}

const takesFrom = (flags: number): Pick<Retry, 'evenPermanent' | 'except'> => ({
  ...(flags % 2 === 0 ? { evenPermanent: true } : {}),
  ...(flags % 7 === 0 ? { except: ['Refused/CardDeclined'] } : {}),
});

const builtInRetryFrom = (name: string, number: number, flags: number, body: Activity): Activity => ({
  activity: 'retry',
  name,
  retries: number % 3,
  intervalSeconds: number % 20,
  do: body,
  ...(flags % 3 === 0 ? { undoFirst: true } : {}),
  ...(flags % 8 === 6 ? { only: ['Refused', 'Engine/ServiceUnavailable'] } : takesFrom(flags)),
});
