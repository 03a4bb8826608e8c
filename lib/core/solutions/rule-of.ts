import type { Template } from '#core/definition/definition';
import type { RuleProblem } from '#core/rules/check-expressions';
import { type Rule, type RuleAction, ruleLimits } from '#core/rules/rule';
import { computedWithinText, filledPlaces } from './places.ts';
import type { Solution, SolutionInstruction, SolutionValues } from './solution.ts';

/** The common part of the exceptions of one fingerprint. */
export interface Alike {
  readonly fingerprint: string;
  readonly type: string;
  readonly workflow: string;
  readonly step: string | null;
}

type Made<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly RuleProblem[] };

const problem = (pointer: string, code: string, detail: string) => ({ ok: false as const, problems: [{ pointer, code, detail }] });

/** The content of a rule that a person may write: without what the system adds. */
export type RuleDraft = Omit<Rule, 'origin' | 'version'>;

/**
 * Makes a rule of a solution. The rule acts on the same exceptions as the solution, and needs no person. Values of
 * parameters may be expressions. The rule is in dry-run. `alike`: what the exceptions of its fingerprints have in common, as far as it is
 * known.
 */
export function ruleOf(solution: Solution, values: SolutionValues, alike: readonly Alike[]): Made<RuleDraft> {
  const missing = solution.parameters.filter(({ name }) => !Object.hasOwn(values, name));
  if (missing.length > 0)
    return {
      ok: false,
      problems: missing.map(({ name }) => ({
        pointer: `/parameters/${name}`,
        code: 'required',
        detail: `A rule asks nobody for "${name}". Give a value, or an expression over each order: {"$cel": "…"}.`,
      })),
    };
  const [within] = computedWithinText(solution.instruction, values);
  if (within !== undefined)
    return problem(`/parameters/${within}`, 'not-computed', 'The place of this parameter is within a text, which takes no expression.');
  const step = common(alike.filter(({ fingerprint }) => solution.fingerprints.includes(fingerprint)).map((each) => each.step ?? undefined));
  const action = actionOf(filledPlaces(solution.instruction, values), step);
  if (!action.ok) return action;
  const event = eventOf(solution, alike);
  if (!event.ok) return event;
  const { id, name } = solution;
  const rule: RuleDraft = {
    id,
    name,
    ...event.value,
    action: action.value,
    mode: 'dry-run',
    priority: 0,
    timesPerOrder: ruleLimits.timesPerOrderDefault,
  };
  return { ok: true, value: rule };
}

type About = Pick<RuleDraft, 'event' | 'object' | 'condition'>;

/**
 * Returns the event of the rule. If the solution has a condition, it alone decides. The workflow is named, so that the rule may read the
 * order.
 */
function eventOf({ appliesWhen, fingerprints }: Solution, alike: readonly Alike[]): Made<About> {
  const known = alike.filter(({ fingerprint }) => fingerprints.includes(fingerprint));
  const workflow = common(known.map((each) => each.workflow));
  if (appliesWhen !== undefined) {
    const object = workflow === undefined ? {} : { object: { workflow } };
    return { ok: true, value: { event: { kind: 'exception' }, ...object, condition: appliesWhen } };
  }
  if (known.length === 0) return problem('', 'no-exceptions', noExceptions);
  const [step, type] = [common(known.map((each) => each.step ?? undefined)), common(known.map((each) => each.type))];
  return {
    ok: true,
    value: {
      event: { kind: 'exception', ...(type === undefined ? {} : { type }) },
      ...(workflow === undefined ? {} : { object: { workflow, ...(step === undefined ? {} : { step }) } }),
      condition: `exception.fingerprint in ${JSON.stringify(known.map(({ fingerprint }) => fingerprint))}`,
    },
  };
}

const noExceptions =
  'Cannot make a rule of this solution: a rule needs a condition, and no exception of the last 30 days has one of the fingerprints that the solution lists. Give the solution the condition `appliesWhen`, or the fingerprint of a newer exception.';

/** Returns the value that all have; undefined if they differ, or if there is none. */
function common(all: readonly (string | undefined)[]): string | undefined {
  const [first] = all;
  return all.every((each) => each === first) ? first : undefined;
}

/**
 * Returns the action that does what the instruction does. `step`: the step of the exceptions. An instruction finds it, but an action must
 * name it.
 */
function actionOf(instruction: SolutionInstruction, step: string | undefined): Made<RuleAction> {
  const { kind, ...fields } = instruction;
  const only = (...names: readonly string[]): string | undefined => Object.keys(fields).find((field) => !names.includes(field));
  switch (kind) {
    case 'resubmit':
      return only() === undefined ? made({ kind: 'retry' }) : cannot(only());
    case 'compensate':
    case 'suspend':
      return made({ kind });
    case 'recover':
      return made({ kind, ...(typeof fields['path'] === 'string' ? { path: fields['path'] } : {}) });
    case 'skip':
      if (fields['effect'] === 'done')
        return problem(
          '/instruction/effect',
          'no-rule',
          'Effect "done" means that a person has done the work by hand, which no rule can do.',
        );
      return only('output', 'effect') === undefined
        ? made({ kind, output: (fields['output'] ?? {}) as Template })
        : cannot(only('output', 'effect'));
    case 'replace-input': {
      const path = fields['path'] ?? step;
      if (typeof path !== 'string')
        return problem('/instruction/path', 'required', 'A rule that replaces an input names the step. Add path to the instruction.');
      return made({ kind, path, input: fields['input'] as Template });
    }
    default:
      return problem(
        '/instruction/kind',
        'no-rule',
        `No action of a rule does what ${kind} does. A rule can retry or skip a step, replace its input, or compensate, recover or suspend the order.`,
      );
  }
}

const made = (action: RuleAction): Made<RuleAction> => ({ ok: true, value: action });

const cannot = (field: string | undefined): Made<RuleAction> =>
  problem(
    `/instruction/${field}`,
    'no-rule',
    `The action of a rule has no ${field}. Take "${field}" out of the solution, or leave these exceptions to people.`,
  );
