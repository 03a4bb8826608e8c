import type { Json, JsonObject } from '#core/data/json';
import type { Template } from '#core/definition/definition';
import { expressionsIn, scopeOf } from '#core/definition/program';
import { fillRule, parseRuleExpression, type RuleScope } from '#core/rules/language';
import { placesIn } from '#core/solutions/places';
import type { Solution, SolutionValues } from '#core/solutions/solution';
import type { Definitions } from '#ports/definitions';
import { timeText } from '#ports/messages';
import { subjectOf } from '#ports/records';
import type { Store } from '#ports/store';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import type { Instruction } from '#roles/operator/instruction';
import { readableOrder } from '#roles/scheduler/load';
import type { OrderOfSet } from './documents.ts';
import type { BulkAsked, BulkInstruction, BulkRun, ItemRefusal } from './run.ts';

/** The fields of instructions that hold values. They may be expressions over each order. */
const valueFields = ['answer', 'input', 'output', 'variables', 'order'] as const;

interface ValueProblem {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
  readonly column?: number;
}

/**
 * Returns the problems of the values of an instruction: wrong expressions and, `isForMany`, literal values, which every order would get.
 */
export function valueProblems(instruction: BulkInstruction, isForMany: boolean, pointer = '/instruction'): readonly ValueProblem[] {
  return valueFields.flatMap((field): readonly ValueProblem[] => {
    const value = instruction[field];
    if (value === undefined) return [];
    const found = [...expressionsIn(value as Template)];
    const at = `${pointer}/${field}`;
    if (found.length === 0 && isForMany) return [{ pointer: at, code: 'same-for-all', detail: sameForAll(field) }];
    return found.flatMap(({ text, pointer }) => {
      const parsed = parseRuleExpression(text);
      return parsed.ok ? [] : [{ pointer: `${at}${pointer}`, code: 'invalid-expression', detail: parsed.message }];
    });
  });
}

/** Returns the problems of literal values for the parameters of a solution that is applied to many orders. */
export function literalValueProblems({ instruction }: Solution, values: SolutionValues): readonly ValueProblem[] {
  const places = [...placesIn(instruction)].filter(({ path }) => valueFields.some((field) => field === path[0]));
  return [...new Set(places.map(({ name }) => name))].flatMap((name) =>
    hasExpressions(values[name]) ? [] : [{ pointer: `/parameters/${name}`, code: 'same-for-all', detail: sameForAll(name) }],
  );
}

const sameForAll = (field: string): string =>
  `Every order would get the same ${field}. Give an expression {"$cel": "…"}, which is evaluated for each order, or send sameForAll: true if all orders need this value.`;

interface Ports {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly clock: { now(): number };
}

/** Returns the instruction for one order: its expressions are replaced by their values. */
export async function filledInstruction(
  { by, reason }: BulkRun,
  { instruction }: BulkAsked,
  order: OrderOfSet,
  ports: Ports,
): Promise<Instruction | { readonly refusals: readonly ItemRefusal[] }> {
  const filled = await withValues(instruction, order, ports);
  return filled.ok ? ({ ...filled.instruction, by, reason } as unknown as Instruction) : { refusals: filled.refusals };
}

type Valued =
  | { readonly ok: true; readonly instruction: BulkInstruction }
  | { readonly ok: false; readonly refusals: readonly ItemRefusal[] };

/** Replaces the expressions of an instruction by their values for one order. */
export async function withValues(instruction: BulkInstruction, order: Pick<OrderOfSet, 'orderId' | 'seq'>, ports: Ports): Promise<Valued> {
  const fields = valueFields.filter((field) => hasExpressions(instruction[field]));
  if (fields.length === 0) return { ok: true, instruction };
  const scope = await scopeFor(order, ports);
  if (!scope) return refused('unreadable', 'The order cannot be read, so no expression can be evaluated over it.');
  const filled: { [field: string]: Json } = {};
  for (const field of fields) {
    const value = fillRule(instruction[field] as Template, scope);
    if (!value.ok) return refused('input-invalid', `${field}: ${value.fault.message}`);
    filled[field] = value.value;
  }
  return { ok: true, instruction: { ...instruction, ...filled } };
}

const refused = (code: string, detail: string): Valued => ({ ok: false, refusals: [{ code, detail }] });

const hasExpressions = (value: Json | undefined): boolean => value !== undefined && !expressionsIn(value as Template).next().done;

/** Returns what an expression may read: the order, its exception, its variables, and the outputs that its workflow keeps. */
async function scopeFor(
  { orderId, seq }: Pick<OrderOfSet, 'orderId' | 'seq'>,
  { store, definitions, clock }: Ports,
): Promise<RuleScope | undefined> {
  const loaded = await readableOrder(orderId, { store, definitions });
  if (!loaded) return undefined;
  const exception = seq === 0 ? undefined : await exceptionOf(exceptionIdOf(orderId, seq), store);
  const { steps, vars } = scopeOf(loaded.program, subjectOf(loaded.order), loaded.instance.state, loaded.program.definition.root.name);
  return {
    order: loaded.order.body,
    ...(exception ? { exception: JSON.parse(JSON.stringify(exception)) as JsonObject } : {}),
    outputs: steps ?? {},
    variables: vars ?? {},
    at: timeText(clock.now()),
  };
}
