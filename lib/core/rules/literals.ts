import type { Json, JsonObject } from '#core/data/json';
import { type Activity, isRemote, type Template } from '#core/definition/definition';
import { expressionsIn, programOf } from '#core/definition/program';
import type { RuleWorld } from './check-expressions.ts';
import { targetsOf } from './check-rule.ts';
import type { Rule } from './rule.ts';

/** A value of an action without expressions, and the schemas of its receivers: one for each version of the workflow. */
export interface RuleLiteral {
  readonly pointer: string;
  readonly value: Json;
  readonly schemas: readonly JsonObject[];
}

/** Returns the value of a rule's action if it has no expressions. A schema may refuse it for more than its type: its length, a pattern. */
export function literalOf(rule: Rule, world: RuleWorld): RuleLiteral | undefined {
  const { action } = rule;
  const { catalog } = world;
  const nodes = targetsOf(rule, world).targets.map(programOf);
  const at = (path: string | undefined) => nodes.flatMap((program) => program.nodes.get(path ?? '') ?? []);
  switch (action.kind) {
    case 'skip':
      return literal(
        'output',
        action.output,
        at(rule.object?.step).map((node) => outputSchema(node, world)),
      );
    case 'replace-input': {
      const steps = at(action.path).filter(isRemote);
      return literal(
        'input',
        action.input,
        steps.map(({ agent, operation }) => catalog?.schemasOf(agent, operation)?.input),
      );
    }
    case 'compensate-with':
      return literal('input', action.input, [catalog?.schemasOf(action.agent, action.operation)?.input]);
    case 'signal': {
      const waits = nodes.flatMap((program) => [...program.nodes.values()]);
      return literal(
        'payload',
        action.payload,
        waits.flatMap((node) => (node.activity === 'waitFor' && node.signal === action.name ? [node.payload] : [])),
      );
    }
    default:
      return undefined;
  }
}

function literal(field: string, value: Template, schemas: readonly (JsonObject | undefined)[]): RuleLiteral | undefined {
  const known = schemas.filter((schema) => schema !== undefined);
  // A receiver without a schema takes any value.
  if (known.length === 0 || known.length < schemas.length || !expressionsIn(value).next().done) return undefined;
  return { pointer: `/action/${field}`, value: value as Json, schemas: known };
}

function outputSchema(node: Activity, { catalog }: RuleWorld): JsonObject | undefined {
  switch (node.activity) {
    case 'step':
      return catalog?.schemasOf(node.agent, node.operation)?.output;
    case 'waitFor':
      return node.payload;
    case 'askOperator':
      return node.answer;
    default:
      return undefined;
  }
}
