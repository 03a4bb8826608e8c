import type { ASTNode } from '@marcbachmann/cel-js';
import { templatesInTurn } from '#core/activities/for-each';
import { behaviorOf } from '#core/activities/index';
import { workflowsAgent } from '#core/data/child-order';
import type { JsonObject } from '#core/data/json';
import type { Catalog } from '#core/definition/catalog';
import { type Activity, isRemote, type RemoteActivity, type Template, type WorkflowDefinition } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { childNodes } from '#core/definition/expression-guard';
import { expressionsIn, isOfOutput } from '#core/definition/program';
import { type TemplateUse, typeOfTemplate } from './assignability.ts';
import { pathOf, type Readable } from './expression-types.ts';
import { typeOfSchema } from './json-schema-types.ts';
import { didYouMean } from './suggest.ts';
import { everyIn, loopsAround, type Placed, type Report, treeOf } from './tree.ts';
import { alternatives, asJson, bool, double, keyOf, never, objectOf, type Type, text, unionOf, unknown } from './types.ts';

/**
 * Checks that fields exist, that operators and functions accept their operands, and that values fit what receives them.
 * Unknown types are not reported.
 */
export function checkTypes(all: readonly Placed[], order: JsonObject, catalog: Catalog | undefined, report: Report): void {
  const types = new KnownTypes(
    all.filter(({ isWellFormed }) => isWellFormed),
    typeOfSchema(order),
    catalog,
  );
  for (const placed of types.all) {
    const { node, path } = placed;
    if (isRemote(node) && catalog?.all) checkOperationExists(node, catalog.all, (message) => report(path, message));
    for (const template of behaviorOf(node.activity).templates(node)) {
      const say: TemplateUse['say'] = (message, severity) => report(path, message, severity);
      types.typeOf(template, placed, wantedBy(node, template, catalog), say);
    }
  }
}

/**
 * Returns the types of what expressions can read in every order of a workflow: its data, outputs and variables. Undefined if the
 * definition is not well formed.
 */
export function readableOf({ root, order }: WorkflowDefinition, catalog: Catalog | undefined): Readable | undefined {
  const placed = treeOf(root, () => {});
  if (!placed) return undefined;
  const all = [...everyIn(placed)].filter(({ isWellFormed }) => isWellFormed);
  return new KnownTypes(all, typeOfSchema(order), catalog).readableAt(placed);
}

function checkOperationExists(
  { agent, operation }: RemoteActivity,
  all: NonNullable<Catalog['all']>,
  say: (message: string) => void,
): void {
  const operations = all.get(agent);
  if (!operations) say(`The app has no agent "${agent}".${didYouMean(agent, [...all.keys()]) || ' List it in the agents of defineApp.'}`);
  else if (agent === workflowsAgent && !operations.includes(operation))
    say(`It calls ${operation}, which is not a workflow of this app.${didYouMean(operation, operations)}`);
  else if (!operations.includes(operation))
    say(`The agent "${agent}" has no operation "${operation}".${didYouMean(operation, operations)}`);
}

/** Returns the type that activities read as `steps.<name>`; undefined for a loop (see `collectedBy`) and for an activity without output. */
function outputOf(node: Activity, catalog: Catalog | undefined): Type | undefined {
  switch (node.activity) {
    case 'step':
      return typeOfSchema(catalog?.schemasOf(node.agent, node.operation)?.output);
    case 'waitFor':
      return typeOfSchema(node.payload);
    case 'askOperator':
      return typeOfSchema(node.answer);
    case 'call':
    case 'compute':
      return unknown;
    default:
      return undefined;
  }
}

interface Wanted {
  readonly type: Type;
  /** The name of the expected value in messages, if not its type. */
  readonly what?: string;
  readonly receiver?: string;
}

const condition: Wanted = { type: bool, what: 'a condition' };

/** Returns the type that an activity expects from one of its templates. */
function wantedBy(node: Activity, template: Template, catalog: Catalog | undefined): Wanted {
  switch (node.activity) {
    case 'step':
    case 'call': {
      if (isOfOutput(node, template)) return condition;
      const type = typeOfSchema(catalog?.schemasOf(node.agent, node.operation)?.input);
      return { type, receiver: `${node.agent}.${node.operation}` };
    }
    case 'choice':
    case 'while':
      return condition;
    case 'forEach':
      if (template === node.collect) return { type: unknown };
      return template === node.list ? { type: { kind: 'list', item: unknown } } : condition;
    case 'delay':
    case 'waitFor':
      return { type: double };
    case 'askOperator':
      return { type: template === node.question ? text : unknown };
    case 'raise':
      return { type: template === node.message ? text : unknown };
    default:
      return { type: unknown };
  }
}

const caught = objectOf({ type: text, message: text, source: text, data: unknown });
const silent: TemplateUse['say'] = () => {};

/** The types of all values that expressions of a definition read, computed on first use. */
class KnownTypes {
  readonly all: readonly Placed[];
  private readonly order: Type;
  private readonly catalog: Catalog | undefined;
  private readonly entries = new Map<Placed, Type>();
  private readonly collecting = new Set<Placed>();
  private outputs: ReadonlyMap<string, Type> | undefined;
  private variables: Map<string, Type> | undefined;
  private areVariablesKnown = false;
  private tested: ReadonlySet<string> | undefined;

  constructor(all: readonly Placed[], order: Type, catalog: Catalog | undefined) {
    this.all = all;
    this.order = order;
    this.catalog = catalog;
  }

  typeOf(template: Template, placed: Placed, { type, what, receiver = placed.path }: Wanted, say: TemplateUse['say']): Type {
    return typeOfTemplate(template, type, { readable: this.readableAt(placed, template), receiver, what, say });
  }

  readableAt(placed: Placed, template?: Template): Readable {
    const { node } = placed;
    const isInTurn = node.activity === 'forEach' && template !== undefined && templatesInTurn(node).includes(template);
    return {
      order: this.order,
      fault: caught,
      step: (name) => this.outputsByName().get(name) ?? this.collectedBy(name),
      variable: (name) => this.typesOfVariables().get(name) ?? unknown,
      loop: (name) => {
        const loop = [...(isInTurn ? [placed] : []), ...loopsAround(placed)].find(({ node }) => node.name === name);
        return loop ? objectOf({ item: this.entryOf(loop), index: double }) : unknown;
      },
      isTestedFor: (path) => this.pathsTestedFor().has(path),
    };
  }

  private outputsByName(): ReadonlyMap<string, Type> {
    if (this.outputs) return this.outputs;
    const outputs = new Map<string, Type>();
    for (const { node } of this.all) {
      const type = outputOf(node, this.catalog);
      // If several activities have this name, `checkReads` reports it.
      if (type) outputs.set(node.name, outputs.has(node.name) ? unknown : type);
    }
    this.outputs = outputs;
    return outputs;
  }

  /** Returns the list type that a loop collects; unknown unless exactly one loop has this name. */
  private collectedBy(name: string): Type {
    const [loop, ...others] = this.all.filter(
      ({ node }) => node.activity === 'forEach' && node.collect !== undefined && node.name === name,
    );
    if (loop?.node.activity !== 'forEach' || loop.node.collect === undefined || others.length > 0 || this.collecting.has(loop))
      return unknown;
    // `checkReads` reports a loop whose `collect` reads the list that it collects.
    this.collecting.add(loop);
    const item = asJson(this.typeOf(loop.node.collect, loop, { type: unknown }, silent));
    this.collecting.delete(loop);
    return { kind: 'list', item };
  }

  private entryOf(loop: Placed): Type {
    const known = this.entries.get(loop);
    if (known || loop.node.activity !== 'forEach') return known ?? unknown;
    this.typesOfVariables();
    const list = this.typeOf(loop.node.list, loop, { type: unknown }, silent);
    const entry = list.kind === 'list' ? list.item : unknown;
    // The type of an entry may depend on variables, so it is stored only after the types of the variables are final.
    if (this.areVariablesKnown) this.entries.set(loop, entry);
    return entry;
  }

  /**
   * Returns the types of the variables. A variable has the type on which all its assignments agree. Assignments may
   * read variables, even the same one, so the types start empty and grow until nothing changes. They only grow, at most
   * to `unknown`, so the loop ends.
   */
  private typesOfVariables(): ReadonlyMap<string, Type> {
    if (this.variables) return this.variables;
    const assignments = this.all.flatMap((placed) => (placed.node.activity === 'assign' ? [{ placed, node: placed.node }] : []));
    const variables = new Map(assignments.map(({ node }) => [node.variable, never]));
    this.variables = variables;
    for (let hasGrown = true; hasGrown; ) {
      hasGrown = false;
      for (const { placed, node } of assignments) {
        const before = variables.get(node.variable) ?? never;
        const after = agreed(before, this.typeOf(node.value, placed, { type: unknown }, silent));
        hasGrown ||= stageOf(before) !== stageOf(after);
        variables.set(node.variable, after);
      }
    }
    for (const [name, type] of variables) if (alternatives(type).length === 0) variables.set(name, unknown);
    this.areVariablesKnown = true;
    return variables;
  }

  private pathsTestedFor(): ReadonlySet<string> {
    this.tested ??= new Set(
      this.all
        .flatMap(({ node }) => behaviorOf(node.activity).templates(node))
        .flatMap((template) => [...expressionsIn(template)])
        .flatMap(({ text }) => {
          const parsed = parseExpression(text);
          return parsed.ok ? [...testedFor(parsed.expression.ast)] : [];
        }),
    );
    return this.tested;
  }
}

/** Returns the common type of both, or `unknown`. */
function agreed(one: Type, other: Type): Type {
  const type = unionOf([one, other]);
  return alternatives(type).length > 1 ? unknown : type;
}

/** Returns a text that differs between the stages of a growing type: empty, some strings, all values of a type, anything. */
const stageOf = (type: Type): string => (type.kind === 'string' && type.among ? `${type.among.length}` : keyOf(type));

/** Yields the fields that an expression tests for: `has(order.note)`, `"note" in order`. */
export function* testedFor(node: ASTNode): Generator<string> {
  if (node.op === 'call' && node.args[0] === 'has') yield* node.args[1].map(pathOf);
  if (node.op === 'in' && node.args[0].op === 'value') yield `${pathOf(node.args[1])}.${node.args[0].args}`;
  for (const child of childNodes(node)) yield* testedFor(child);
}
