import type { ASTNode } from '@marcbachmann/cel-js';
import { behaviorOf } from '#core/activities/index';
import type { JsonObject } from '#core/data/json';
import { type Activity, isRemote, type Template } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { childNodes } from '#core/definition/expression-guard';
import { expressionsIn } from '#core/definition/program';
import { secretPointers } from '#core/definition/secrets';
import { chainOf, Secrets } from './secret-output.ts';
import { type Placed, pointedAt, type Report } from './tree.ts';

/**
 * Checks that expressions only pass secrets on. The engine sees a secret as an encrypted text, so a comparison or a calculation with it
 * would give a wrong result.
 */
export function checkSecretUse(all: readonly Placed[], order: JsonObject, report: Report): void {
  const secrets = new Secrets(
    all.map(({ node }) => node),
    secretPointers(order),
  );
  if (!secrets.areAny) return;
  for (const { node, path, isWellFormed } of all) {
    if (!isWellFormed) continue;
    for (const template of behaviorOf(node.activity).templates(node))
      for (const { text } of expressionsIn(template)) {
        const parsed = parseExpression(text);
        const used = parsed.ok ? usedIn(parsed.expression.ast, secrets, mayPassOn(node, template)) : undefined;
        if (used)
          report(
            path,
            `${used.name} holds a secret, which the workflow sees only encrypted. An expression may pass it on to a step, a call or a variable, and do nothing else with it.\n${pointedAt(text, used.position)}`,
          );
      }
  }
}

/** Whether the template goes to a step, a call, a variable, a list, or details that people see masked: these take a secret as it is. */
function mayPassOn(node: Activity, template: Template): boolean {
  if (isRemote(node)) return template === node.input;
  if (node.activity === 'assign') return true;
  if (node.activity === 'askOperator') return template === node.details;
  if (node.activity === 'raise') return template === node.data;
  return node.activity === 'forEach' && (template === node.list || template === node.collect);
}

interface SecretUse {
  readonly name: string;
  readonly position: number;
}

/** Returns the first secret that an expression uses otherwise than by passing it on. `passes`: the value of this node is passed on. */
function usedIn(node: ASTNode, secrets: Secrets, passes: boolean): SecretUse | undefined {
  const chain = chainOf(node);
  if (chain) return !passes && secrets.isInside(chain) ? { name: chain.text, position: node.range.start } : undefined;
  const parts = partsOf(node);
  for (const { part, isPassedOn } of parts) {
    const used = usedIn(part, secrets, passes && isPassedOn);
    if (used) return used;
  }
  return undefined;
}

/** Returns the parts of a node. `isPassedOn`: the value of the node contains the part unchanged. */
function partsOf(node: ASTNode): readonly { readonly part: ASTNode; readonly isPassedOn: boolean }[] {
  const passed = (part: ASTNode) => ({ part, isPassedOn: true });
  const used = (part: ASTNode) => ({ part, isPassedOn: false });
  switch (node.op) {
    case 'list':
      return node.args.map(passed);
    case 'map':
      return node.args.flatMap(([key, value]) => [used(key), passed(value)]);
    case '?:': {
      const [condition, one, other] = node.args;
      return [used(condition), passed(one), passed(other)];
    }
    case 'rcall': {
      const [name, receiver, args] = node.args;
      return name === 'orValue' ? [receiver, ...args].map(passed) : [receiver, ...args].map(used);
    }
    case 'call': {
      const [name, args] = node.args;
      // The existence of a secret is public, so an expression may test for it.
      if (name === 'has') return [];
      return args.map(name === 'orElse' ? passed : used);
    }
    default:
      return childNodes(node).map(used);
  }
}
