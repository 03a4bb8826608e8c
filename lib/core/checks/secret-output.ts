import type { ASTNode } from '@marcbachmann/cel-js';
import { outputVariable } from '#core/data/child-order';
import type { JsonObject } from '#core/data/json';
import { type Activity, isRemote, type Template, type WorkflowDefinition } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { childNodes } from '#core/definition/expression-guard';
import { childrenOf, expressionsIn } from '#core/definition/program';
import { secretPointers } from '#core/definition/secrets';
import { pathOf } from './expression-types.ts';
import type { Placed, Report } from './tree.ts';

/** Checks that the output of a workflow reads no field that is marked secret: its client and its caller see the output. */
export function checkOutput(all: readonly Placed[], order: JsonObject, report: Report): void {
  const secrets = new Secrets(
    all.map(({ node }) => node),
    secretPointers(order),
  );
  for (const { node, path } of all) {
    const read = node.activity === 'assign' && node.variable === outputVariable ? secrets.readIn(node.value) : undefined;
    if (read !== undefined)
      report(path, `The output of the workflow reads ${read}, which holds a secret. Leave the secret field out of the output.`);
  }
}

/**
 * Returns the first read of a secret in an expression of a rule, as written. Rules read `outputs` and `variables`, workflows `steps` and
 * `vars`.
 */
export function secretReadIn(ast: ASTNode, { root, order }: WorkflowDefinition): string | undefined {
  const secrets = new Secrets(nodesIn(root), secretPointers(order));
  return chainsIn(ast).find((chain) => secrets.isSecret({ ...chain, root: rootsOfRules.get(chain.root) ?? chain.root }))?.text;
}

const rootsOfRules = new Map([
  ['outputs', 'steps'],
  ['variables', 'vars'],
]);

const nodesIn = (node: Activity): readonly Activity[] => [node, ...childrenOf(node).flatMap(nodesIn)];

/** A read of an expression: `order.card` is the root `order` and the field `card`. `*` stands for an entry with a computed key. */
export interface Chain {
  readonly text: string;
  readonly root: string;
  readonly fields: readonly string[];
}

/** The secrets of a workflow, followed through its variables, outputs and loops. */
export class Secrets {
  private readonly nodes: readonly Activity[];
  private readonly ofOrder: readonly string[];
  /** Templates that are being searched: a variable may be computed from itself. */
  private readonly searched = new Set<Template>();

  constructor(nodes: readonly Activity[], ofOrder: readonly string[]) {
    this.nodes = nodes;
    this.ofOrder = ofOrder;
  }

  /** Returns the first read of a secret in a template, as written; undefined if there is none. */
  readIn(template: Template): string | undefined {
    if (this.searched.has(template)) return undefined;
    this.searched.add(template);
    const found = [...expressionsIn(template)]
      .flatMap(({ text }) => {
        const parsed = parseExpression(text);
        return parsed.ok ? chainsIn(parsed.expression.ast) : [];
      })
      .find((chain) => this.isSecret(chain));
    this.searched.delete(template);
    return found?.text;
  }

  /** Whether the workflow marks anything secret. */
  get areAny(): boolean {
    return this.ofOrder.length > 0 || this.nodes.some((node) => this.pointersOf(node, 'steps').length > 0);
  }

  isSecret(chain: Chain): boolean {
    return this.readsOf(chain, (node, root) => this.pointersOf(node, root)).some(({ pointers, fields }) => touches(pointers, fields));
  }

  /** Whether a read yields a secret or a part of one, and not a value around it. */
  isInside(chain: Chain): boolean {
    return this.readsOf(chain, (node, root) => this.placesOf(node, root)).some(({ pointers, fields }) =>
      pointers.some((pointer) => isAround(pointer, fields)),
    );
  }

  /** Returns, for each value that a read may mean, its secret parts and the fields that are read of it. */
  private readsOf({ root, fields }: Chain, pointersOf: (node: Activity, root: string) => readonly string[]): readonly ValueRead[] {
    if (root === 'order') return [{ pointers: this.ofOrder, fields }];
    const [name, ...rest] = fields;
    const named = this.nodes.filter((node) =>
      root === 'vars' ? node.activity === 'assign' && node.variable === name : node.name === name,
    );
    return named.map((node) => ({ pointers: pointersOf(node, root), fields: rest }));
  }

  /** Returns pointers to exactly the secret parts of the values that others read from this activity. Compare `pointersOf`. */
  private placesOf(node: Activity, root: string): readonly string[] {
    if (node.activity === 'assign') return root === 'vars' ? this.placesIn(node.value) : [];
    if (node.activity === 'compute') return [];
    if (node.activity !== 'forEach') return this.pointersOf(node, root);
    if (root === 'each') return this.placesIn(node.list).map((place) => place.replace(/^\/[^/]+/, ''));
    return node.collect === undefined ? [] : this.placesIn(node.collect).map((place) => `/*${place}`);
  }

  /** Returns pointers to the secrets in the value of a template. */
  placesIn(template: Template): readonly string[] {
    if (this.searched.has(template)) return [];
    this.searched.add(template);
    const places = [...expressionsIn(template)].flatMap(({ text, pointer }) => {
      const parsed = parseExpression(text);
      return parsed.ok ? this.placesFrom(parsed.expression.ast).map((place) => pointer + place) : [];
    });
    this.searched.delete(template);
    return places;
  }

  /** Returns the places of secrets in the value of an expression. A value that is built around a secret counts as secret as a whole. */
  private placesFrom(node: ASTNode): readonly string[] {
    const chain = chainOf(node);
    if (!chain) return chainsIn(node).some((each) => this.isInside(each)) ? [''] : [];
    return this.readsOf(chain, (each, root) => this.placesOf(each, root)).flatMap(({ pointers, fields }) =>
      pointers.flatMap((pointer) => {
        if (isAround(pointer, fields)) return [''];
        const rest = pointer.split('/').slice(1 + fields.length);
        return touches([pointer], fields) ? [`/${rest.join('/')}`] : [];
      }),
    );
  }

  /** Returns pointers to the secret parts of the values that others read from this activity. A computed value counts as a whole. */
  private pointersOf(node: Activity, root: string): readonly string[] {
    const whole = (template: Template | undefined) => (template !== undefined && this.readIn(template) !== undefined ? [''] : []);
    if (isRemote(node)) return root === 'steps' ? (node.secretOutput ?? []) : [];
    switch (node.activity) {
      case 'assign':
        return root === 'vars' ? whole(node.value) : [];
      case 'waitFor':
        return secretPointers(node.payload);
      case 'askOperator':
        return secretPointers(node.answer);
      case 'compute':
        return whole(node.input);
      case 'forEach':
        return whole(root === 'each' ? node.list : node.collect);
      default:
        return [];
    }
  }
}

/** Whether a secret lies in, at or around the field that is read. */
const touches = (pointers: readonly string[], fields: readonly string[]): boolean =>
  pointers.some((pointer) => {
    const parts = pointer.split('/').slice(1);
    return fields.every((field, index) => {
      const part = parts[index];
      return part === undefined || part === '*' || field === '*' || part === field;
    });
  });

/** Whether the field that is read is the secret at the pointer, or lies inside it. */
function isAround(pointer: string, fields: readonly string[]): boolean {
  const parts = pointer.split('/').slice(1);
  return parts.length <= fields.length && parts.every((part, index) => part === '*' || fields[index] === '*' || part === fields[index]);
}

interface ValueRead {
  readonly pointers: readonly string[];
  readonly fields: readonly string[];
}

function chainsIn(node: ASTNode): readonly Chain[] {
  const chain = chainOf(node);
  return chain ? [chain] : childNodes(node).flatMap(chainsIn);
}

const roots: ReadonlySet<string> = new Set(['order', 'steps', 'vars', 'each', ...rootsOfRules.keys()]);

export function chainOf(node: ASTNode): Chain | undefined {
  if (node.op === 'id') return roots.has(node.args) ? { text: node.args, root: node.args, fields: [] } : undefined;
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [of, key] = node.args;
  const before = chainOf(of);
  const field = typeof key === 'string' ? key : key.op === 'value' ? String(key.args) : '*';
  return before && { ...before, text: pathOf(node), fields: [...before.fields, field] };
}
