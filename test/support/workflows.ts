import './own-activities.ts';
import type { Step } from '#core/activities/step';
import type { Activity, Template, WorkflowDefinition } from '#core/definition/definition';

/** Definitions as plain data, as another language would write them. */
export const step = (name: string, more: Partial<Omit<Step, 'activity' | 'name'>> = {}): Activity => ({
  activity: 'step',
  name,
  agent: 'agent',
  operation: name,
  input: {},
  ...more,
});
export const sequence = (name: string, ...children: Activity[]): Activity => ({ activity: 'sequence', name, children });
export const parallel = (name: string, ...children: Activity[]): Activity => ({ activity: 'parallel', name, children });
export const delay = (name: string, seconds: Template): Activity => ({ activity: 'delay', name, seconds });

export const workflow = (root: Activity, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition => ({
  name: 'story',
  version: 1,
  exprVersion: 1,
  order: {},
  toOperator: [],
  ...more,
  root: { ...root, name: 'order' },
});

const seconds = String.raw`(\d+)s`;
const forms = {
  workflow: new RegExp(String.raw`^workflow(?: completeWithin ${seconds})?(?: to caller (\S+))?$`),
  composite: /^(sequence|parallel)(?: (\S+))?$/,
  handler: /^on (\S+)$/,
  undo: /^undo (\S+) by (\S+)(?: with (.+))?$/,
  retry: new RegExp(String.raw`^retry (\d+) every ${seconds}(?: (except|only) (\S+))?( even permanent)?( undo first)?$`),
  scope: /^scope (\S+)$/,
  forEach: /^for each (\S+) of (\{.*?\}|\[.*?\])(?: at most (\d+))?(?: until (\{.*?\}))?(?: collecting (\{.*\}))?$/,
  while: /^while (\S+) (\{.*\})(?: at most (\d+))?$/,
  choice: /^choice (\S+)$/,
  when: /^when (\{.*\})$/,
  raise: /^raise (\S+) (\S+)(?: saying (\S.*?))?(?: data (\{.*\}))?$/,
  assign: /^set (\S+) to (.+)$/,
  compensate: /^compensate(?: (\S+))?$/,
  waitFor: new RegExp(String.raw`^(\S+) waits for (\S+?)(?: within ${seconds})?$`),
  askOperator: /^(\S+) asks a person (.+)$/,
  compute: /^(\S+) computes (\S+) with (.+)$/,
  call: /^(\S+) calls (\S+)(?: with (.+?))?( without undo)?$/,
  ensure: /^ensure (\S+)$/,
  again: /^run (\S+) again (\d+)$/,
  fuse: new RegExp(String.raw`^fuse (\S+) ${seconds} (\S+)$`),
  delay: new RegExp(String.raw`^delay (\S+) (?:${seconds}|(\{.*\}))$`),
  step: new RegExp(String.raw`^(\S+) by (\S+)( looked up)?(?: within ${seconds})?(?: longest ${seconds})?(?: with (.+))?$`),
};

/**
 * A definition as an outline, for stories:
 *
 *     workflow completeWithin 600s
 *       sequence
 *         charge by payment within 20s with {"total": {"$cel": "order.total"}}
 *         delay pause 30s
 */
export function outline(text: string): WorkflowDefinition {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const head = forms.workflow.exec(lines[0]?.trim() ?? '');
  if (!head) throw new Error(`An outline begins with "workflow", not "${lines[0]}".`);
  const tops = siblings(lines.slice(1));
  const [root] = tops;
  if (!root || tops.length > 1) throw new Error('An outline has one activity below "workflow".');
  const [, time, toCaller] = head;
  return workflow(root, { ...(time ? { completeWithinSeconds: Number(time) } : {}), ...(toCaller ? { toCaller: [toCaller] } : {}) });
}

/** Lines with the least indentation begin an activity each; deeper lines belong to it. */
function siblings(lines: readonly string[]): Activity[] {
  const depth = depthOf(lines[0] ?? '');
  const starts = lines.flatMap((line, index) => (depthOf(line) === depth ? [index] : []));
  return starts.map((start, index) => activityOf((lines[start] ?? '').trim(), lines.slice(start + 1, starts[index + 1])));
}

const depthOf = (line: string): number => line.length - line.trimStart().length;

/** Blocks of lines directly below one line: their first lines, with the deeper ones. */
function blocksIn(lines: readonly string[]): { head: string; inside: readonly string[] }[] {
  const depth = depthOf(lines[0] ?? '');
  const starts = lines.flatMap((line, index) => (depthOf(line) === depth ? [index] : []));
  return starts.map((start, index) => ({ head: (lines[start] ?? '').trim(), inside: lines.slice(start + 1, starts[index + 1]) }));
}

const template = (text: string): Template => JSON.parse(text) as Template;

/** Separates the lines of a composite from its handlers, `on Fault` with one activity each, and from its own undo. */
function parted(lines: readonly string[]): { inside: readonly string[]; handlers: Trouble } {
  const blocks = blocksIn(lines);
  const faultHandlers = blocks.flatMap(({ head, inside }) => {
    const [, fault] = forms.handler.exec(head) ?? [];
    const [body] = fault ? siblings(inside) : [];
    return fault && body ? [{ fault, do: body }] : [];
  });
  const depth = ' '.repeat(depthOf(lines[0] ?? ''));
  const isTrouble = (head: string): boolean => forms.handler.test(head) || forms.undo.test(head);
  const inside = blocks.filter(({ head }) => !isTrouble(head)).flatMap((block) => [depth + block.head, ...block.inside]);
  return { inside, handlers: { ...(faultHandlers.length > 0 ? { faultHandlers } : {}), ...undoIn(blocks.map(({ head }) => head)) } };
}

type Trouble = Pick<Activity, 'faultHandlers' | 'undo'>;

function undoIn(heads: readonly string[]): { readonly undo?: Step } {
  const [, operation, agent, input] = heads.map((head) => forms.undo.exec(head)).find((match) => match) ?? [];
  return operation && agent ? { undo: step('undo', { agent, operation, input: input ? template(input) : {} }) as Step } : {};
}

/** Activities that wait for others: for a signal, a person or another workflow; and activities of an app. */
function leafOf(line: string): Activity | undefined {
  const [, waiting, signal, time] = forms.waitFor.exec(line) ?? [];
  if (waiting && signal) return { activity: 'waitFor', name: waiting, signal, ...(time ? { withinSeconds: Number(time) } : {}) };
  const [, name, question] = forms.askOperator.exec(line) ?? [];
  if (name && question) return { activity: 'askOperator', name, question: template(question) };
  const [, computing, fn, given] = forms.compute.exec(line) ?? [];
  if (computing && fn && given) return { activity: 'compute', name: computing, function: fn, input: template(given) };
  const [, fuse, after, fault] = forms.fuse.exec(line) ?? [];
  if (fuse && fault) return { activity: 'story:fuse', name: fuse, seconds: Number(after), faults: [fault] };
  const [, calling, operation, input, bare] = forms.call.exec(line) ?? [];
  if (!calling || !operation) return undefined;
  const agent = 'workflows';
  const undo = bare ? {} : { undo: step('undo', { agent, operation: 'undo' }) as Step };
  return { activity: 'call', name: calling, agent, operation, input: input ? template(input) : {}, ...undo };
}

/** Activities with one activity inside, and leaves that are not steps. */
function languageOf(line: string, lines: readonly string[]): Activity | undefined {
  const { inside, handlers } = parted(lines);
  const body = (): Activity => {
    const [first, ...others] = siblings(inside);
    if (!first || others.length > 0) throw new Error(`One activity belongs below "${line}".`);
    return first;
  };
  const [, count, interval, which, named = '', even, undoFirst] = forms.retry.exec(line) ?? [];
  if (count) {
    const more = {
      ...(which ? { [which]: [named] } : {}),
      ...(even ? { evenPermanent: true } : {}),
      ...(undoFirst ? { undoFirst: true } : {}),
    };
    return {
      activity: 'retry',
      name: 'retry',
      retries: Number(count),
      intervalSeconds: Number(interval),
      do: body(),
      ...more,
      ...handlers,
    };
  }
  const [, scope] = forms.scope.exec(line) ?? [];
  if (scope) return { activity: 'scope', name: scope, do: body(), ...handlers };
  const [, each, list, most, until, collect] = forms.forEach.exec(line) ?? [];
  if (each && list) {
    const more = {
      ...(most ? { maxConcurrency: Number(most) } : {}),
      ...(until ? { until: template(until) } : {}),
      ...(collect ? { collect: template(collect) } : {}),
    };
    return { activity: 'forEach', name: each, list: template(list), do: body(), ...more, ...handlers };
  }
  const [, loop, condition, turns] = forms.while.exec(line) ?? [];
  if (loop && condition)
    return {
      activity: 'while',
      name: loop,
      condition: template(condition),
      do: body(),
      ...(turns ? { maxTurns: Number(turns) } : {}),
      ...handlers,
    };
  const [, choice] = forms.choice.exec(line) ?? [];
  if (choice) return choiceOf(choice, inside, handlers);
  const [, again, times] = forms.again.exec(line) ?? [];
  if (again) return { activity: 'story:again', name: again, retries: Number(times), do: body(), ...handlers };
  const [, ensured] = forms.ensure.exec(line) ?? [];
  if (ensured) {
    const [first, last] = siblings(inside);
    return { activity: 'story:ensure', name: ensured, do: first, last, ...handlers };
  }
  const [, raiser, fault, message, data] = forms.raise.exec(line) ?? [];
  if (raiser && fault) {
    const more = data ? { data: template(data) } : {};
    return { activity: 'raise', name: raiser, fault, message: message ? template(message) : `the workflow raises ${fault}`, ...more };
  }
  const [, variable, value] = forms.assign.exec(line) ?? [];
  if (variable && value) return { activity: 'assign', name: `set-${variable}`, variable, value: template(value) };
  const compensate = forms.compensate.exec(line);
  if (compensate)
    return {
      activity: 'compensate',
      ...(compensate[1] ? { name: `compensate-${compensate[1]}`, scope: compensate[1] } : { name: 'compensate' }),
    };
  return line === 'terminate' ? { activity: 'terminate', name: 'terminate' } : leafOf(line);
}

function choiceOf(name: string, lines: readonly string[], handlers: Trouble): Activity {
  const blocks = blocksIn(lines).map(({ head, inside }) => ({ when: forms.when.exec(head)?.[1], do: siblings(inside)[0] as Activity }));
  const otherwise = blocks.find(({ when }) => when === undefined)?.do;
  const branches = blocks.flatMap((block) => (block.when ? [{ when: template(block.when), do: block.do }] : []));
  return { activity: 'choice', name, branches, ...(otherwise ? { otherwise } : {}), ...handlers };
}

function activityOf(line: string, lines: readonly string[]): Activity {
  const language = languageOf(line, lines);
  if (language) return language;
  const composite = forms.composite.exec(line);
  if (composite) {
    const { inside, handlers } = parted(lines);
    return {
      activity: composite[1] as 'sequence',
      name: composite[2] ?? (composite[1] as string),
      children: inside.length > 0 ? siblings(inside) : [],
      ...handlers,
    };
  }
  const pause = forms.delay.exec(line);
  if (pause) return delay(pause[1] as string, pause[2] ? Number(pause[2]) : (JSON.parse(pause[3] as string) as Template));
  const [, name, agent, lookedUp, within, longest, input] = forms.step.exec(line) ?? [];
  if (!name || !agent) throw new Error(`Neither an activity nor a step: "${line}".`);
  return step(name, {
    agent,
    input: input ? (JSON.parse(input) as Template) : {},
    ...undoIn([(lines[0] ?? '').trim()]),
    ...(lookedUp ? { lookup: true as const } : {}),
    ...(within ? { completeWithinSeconds: Number(within) } : {}),
    ...(longest ? { longestSeconds: Number(longest) } : {}),
  });
}

/** A list of the given length. */
export const listOf = <T>(length: number, entry: (index: number) => T): T[] => Array.from({ length }, (_, index) => entry(index));

/** Freezes a value to its last leaf, so that a later write to it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inside of Object.values(value)) deepFreeze(inside);
  return value;
}

export const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
