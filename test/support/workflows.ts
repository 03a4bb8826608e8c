import type { Step } from '../../lib/core/activities/step.ts';
import type { Activity, Template, WorkflowDefinition } from '../../lib/core/definition.ts';

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
  workflow: new RegExp(`^workflow(?: completeWithin ${seconds})?$`),
  composite: /^(sequence|parallel)(?: (\S+))?$/,
  delay: new RegExp(String.raw`^delay (\S+) (?:${seconds}|(\{.*\}))$`),
  step: new RegExp(String.raw`^(\S+) by (\S+)(?: within ${seconds})?(?: longest ${seconds})?(?: with (.+))?$`),
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
  return workflow(root, head[1] ? { completeWithinSeconds: Number(head[1]) } : {});
}

/** Lines of the least depth begin an activity each; what is deeper lies within it. */
function siblings(lines: readonly string[]): Activity[] {
  const depth = depthOf(lines[0] ?? '');
  const starts = lines.flatMap((line, index) => (depthOf(line) === depth ? [index] : []));
  return starts.map((start, index) => activityOf((lines[start] ?? '').trim(), lines.slice(start + 1, starts[index + 1])));
}

const depthOf = (line: string): number => line.length - line.trimStart().length;

function activityOf(line: string, inside: readonly string[]): Activity {
  const composite = forms.composite.exec(line);
  if (composite)
    return { activity: composite[1] as 'sequence', name: composite[2] ?? (composite[1] as string), children: siblings(inside) };
  const pause = forms.delay.exec(line);
  if (pause) return delay(pause[1] as string, pause[2] ? Number(pause[2]) : (JSON.parse(pause[3] as string) as Template));
  const [, name, agent, within, longest, input] = forms.step.exec(line) ?? [];
  if (!name || !agent) throw new Error(`Neither an activity nor a step: "${line}".`);
  return step(name, {
    agent,
    input: input ? (JSON.parse(input) as Template) : {},
    ...(within ? { completeWithinSeconds: Number(within) } : {}),
    ...(longest ? { longestSeconds: Number(longest) } : {}),
  });
}

/** A list of so many entries. */
export const listOf = <T>(length: number, entry: (index: number) => T): T[] => Array.from({ length }, (_, index) => entry(index));

/** Freezes a value to its last leaf: whoever changes it afterwards is found out at once. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inside of Object.values(value)) deepFreeze(inside);
  return value;
}

export const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
