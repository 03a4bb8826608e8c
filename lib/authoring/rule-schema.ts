import * as z from 'zod';
import { faultClasses } from '#core/data/fault';
import { type RuleAction, ruleControls, ruleEventKinds, ruleModes } from '#core/rules/rule';

const name = z.string().min(1).max(1024);
const group = z.string().min(1).max(64);
const value = z.unknown().describe('a value, or {"$cel": "…"} in place of any part of it');
const words = z.union([z.string().max(1024), z.strictObject({ $cel: z.string().max(4096) })]).describe('a text, or {"$cel": "…"}');
const seconds = z.number().min(0);

const pattern = z.strictObject({
  kind: z.enum(ruleEventKinds),
  type: name
    .exactOptional()
    .describe('the type of a fault or an ancestor, the process state, the status of the step, the name of the signal'),
  class: z.enum(faultClasses).exactOptional().describe('of an exception'),
  afterSeconds: seconds.exactOptional().describe('order-age: since submission; step-late: after completeBy'),
});

const object = z.strictObject({
  workflow: name.exactOptional(),
  step: name.exactOptional().describe('the path of the step, without the turns of loops'),
  agent: name.exactOptional(),
  orderId: name.exactOptional(),
});

const action = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('retry'), afterSeconds: seconds.exactOptional() }),
  z.strictObject({ kind: z.literal('compensate') }),
  z.strictObject({
    kind: z.literal('recover'),
    path: name.exactOptional().describe('where the order goes on; without it, the whole order'),
  }),
  z.strictObject({ kind: z.literal('suspend') }),
  z.strictObject({ kind: z.literal('skip'), output: value }),
  z.strictObject({ kind: z.literal('replace-input'), path: name, input: value }),
  z.strictObject({
    kind: z.literal('handle'),
    workflow: name,
    version: z.int().min(1).exactOptional(),
    control: z.enum(ruleControls),
    path: name.exactOptional().describe('where the order goes on with control "resumed"'),
  }),
  z.strictObject({ kind: z.literal('compensate-with'), agent: name, operation: name, input: value }),
  z.strictObject({ kind: z.literal('raise'), type: name, message: words }),
  z.strictObject({ kind: z.literal('signal'), name, payload: value }),
  z.strictObject({ kind: z.literal('announce'), text: words }),
  z.strictObject({
    kind: z.literal('task'),
    group: group.exactOptional(),
    dueSeconds: seconds.exactOptional(),
    text: words.exactOptional(),
  }),
]);

type Undescribed = Exclude<RuleAction['kind'], z.output<typeof action>['kind']>;

/** The fields of a rule that its author writes. The compiler names the kinds of actions that have no fields above. */
export const ruleFields = {
  name: z.string().min(1).max(200),
  object: object.exactOptional().describe('the orders and steps that the rule is about; without it, all'),
  event: pattern.exactOptional().describe('the event; left out with all and any'),
  all: z.array(pattern).max(100).exactOptional().describe('fires at the event that completes the list within withinSeconds'),
  any: z.array(pattern).max(100).exactOptional().describe('fires at each of these events'),
  withinSeconds: seconds.exactOptional(),
  condition: z.string().min(1).max(4096).exactOptional().describe('CEL over order, exception, step, outputs, variables and at'),
  executor: z.strictObject({ group: group.exactOptional(), role: group.exactOptional() }).exactOptional(),
  action: action satisfies [Undescribed] extends [never] ? unknown : { 'has no fields': Undescribed },
  mode: z.enum(ruleModes),
  priority: z.number().min(-1_000_000).max(1_000_000),
  timesPerOrder: z.int().min(1).max(1000),
};
