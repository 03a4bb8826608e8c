import type { Json, JsonObject } from '#core/data/json';
import type { Rule } from '../../api/types.ts';
import { parsed } from '../../parts/json-text.ts';
import { actions } from './text.ts';

/** A rule as a person types it. Values other than texts are in JSON. */
export type RuleForm = {
  readonly id: string;
  readonly name: string;
  readonly event: string;
  readonly type: string;
  readonly afterSeconds: string;
  readonly workflow: string;
  readonly step: string;
  readonly agent: string;
  readonly condition: string;
  readonly action: string;
  /** The other fields of the action, as JSON. */
  readonly details: string;
  readonly mode: string;
  readonly priority: string;
  readonly timesPerOrder: string;
  readonly reason: string;
  /** The whole rule as JSON, for what has no field. */
  readonly json: string;
  readonly isJson: boolean;
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** The fields that a person writes: neither the figures nor the id and the version. */
export function writtenPart(rule: Rule): JsonObject {
  const {
    id: _,
    version: __,
    origin: ___,
    hits: ____,
    lastHitAt: _____,
    acted: ______,
    passed: _______,
    failedAgain: ________,
    ...fields
  } = rule;
  return fields as unknown as JsonObject;
}

export function formOf(rule: Rule | undefined): RuleForm {
  const { kind, ...details } = rule?.action ?? { kind: 'task' as const, ...actions.task.fields };
  return {
    id: rule?.id ?? '',
    name: rule?.name ?? '',
    event: rule?.event?.kind ?? 'exception',
    type: rule?.event?.type ?? '',
    afterSeconds: rule?.event?.afterSeconds === undefined ? '' : String(rule.event.afterSeconds),
    workflow: rule?.object?.workflow ?? '',
    step: rule?.object?.step ?? '',
    agent: rule?.object?.agent ?? '',
    condition: rule?.condition ?? '',
    action: kind,
    details: pretty(details),
    mode: rule?.mode ?? 'dry-run',
    priority: String(rule?.priority ?? 0),
    timesPerOrder: String(rule?.timesPerOrder ?? 3),
    reason: '',
    json: rule ? pretty(writtenPart(rule)) : '',
    // A rule with several events has no fields here.
    isJson: rule !== undefined && rule.event === undefined,
  };
}

export type BuiltRule = { readonly body: JsonObject } | { readonly missing: string };

const filled = (fields: { readonly [name: string]: string | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''));

/** Returns the body of the call that writes the rule, without its reason. Parts of `before` that have no field here stay as they are. */
export function builtRule(form: RuleForm, before: Rule | undefined): BuiltRule {
  if (form.isJson) {
    const value = parsed(form.json);
    return value.ok ? { body: value.value as JsonObject } : { missing: value.problem };
  }
  const details = parsed(form.details.trim() === '' ? '{}' : form.details);
  if (!details.ok) return { missing: `The action: ${details.problem}` };
  if (form.id === '') return { missing: 'Give the rule an id.' };
  const object = {
    ...(before?.object?.orderId ? { orderId: before.object.orderId } : {}),
    ...filled({ workflow: form.workflow, step: form.step, agent: form.agent }),
  };
  const event: { [field: string]: Json } = { kind: form.event, ...filled({ type: form.type, class: before?.event?.class }) };
  if (form.afterSeconds !== '') event['afterSeconds'] = Number(form.afterSeconds);
  return {
    body: {
      ...(before?.executor ? { executor: before.executor as unknown as JsonObject } : {}),
      ...filled({ name: form.name, condition: form.condition }),
      ...(Object.keys(object).length > 0 ? { object } : {}),
      event,
      action: { kind: form.action, ...(details.value as JsonObject) },
      mode: form.mode,
      priority: Number(form.priority),
      timesPerOrder: Number(form.timesPerOrder),
    },
  };
}
