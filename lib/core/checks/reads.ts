import { templatesInTurn } from '#core/activities/for-each';
import { answersLater, behaviorOf } from '#core/activities/index';
import type { Template } from '#core/definition/definition';
import { type Expression, parseExpression } from '#core/definition/expression';
import type { Read } from '#core/definition/expression-guard';
import { expressionsIn, isOfOutput } from '#core/definition/program';
import { Certain } from './definitely-set.ts';
import { whyUncertain } from './maybe-unset.ts';
import { didYouMean } from './suggest.ts';
import { aroundOf, everyIn, loopsAround, type Placed, pointedAt, type Report } from './tree.ts';

/**
 * Checks that every expression parses and reads only values that certainly exist. These are outputs of steps that have
 * run, variables that are set, entries of enclosing loops, and the fault in a handler.
 */
export function checkReads(root: Placed, report: Report): void {
  const steps = new Map<string, Placed[]>();
  const variables = new Set<string>();
  for (const each of everyIn(root)) {
    const { node, part } = each;
    if (answersLater(node) && part !== 'undo') steps.set(node.name, [...(steps.get(node.name) ?? []), each]);
    if (node.activity === 'assign') variables.add(node.variable);
  }
  new Reader({ steps, variables, report }).walk(root, new Certain());
}

interface World {
  readonly steps: ReadonlyMap<string, readonly Placed[]>;
  readonly variables: ReadonlySet<string>;
  readonly report: Report;
}

/** Returns what is certain as soon as a step has its output. */
function withOutputOf({ name }: Placed['node'], certain: Certain): Certain {
  const then = certain.fork();
  then.add(`steps.${name}`);
  return then;
}

/** Walks through a definition in the order of execution. */
class Reader {
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  walk(placed: Placed, certain: Certain): void {
    const body = certain.fork();
    this.walkBody(placed, body);
    for (const undo of placed.inside.filter(({ part }) => part === 'undo')) this.along(undo, body);
    const handlers = placed.inside.filter(({ part }) => part === 'handler').map((handler) => this.along(handler, certain));
    certain.addCommon([body, ...handlers]);
  }

  /** Walks one branch and returns the names that are set at its end. */
  private along(placed: Placed, from: Certain): Certain {
    const way = from.fork();
    this.walk(placed, way);
    return way;
  }

  private walkBody(placed: Placed, certain: Certain): void {
    const { node } = placed;
    if (!placed.isWellFormed) return certain.add(`steps.${node.name}`);
    const children = placed.inside.filter(({ part }) => part === 'child');
    const inTurn = node.activity === 'forEach' ? templatesInTurn(node) : [];
    const templates = behaviorOf(node.activity).templates(node);
    for (const template of templates.slice(0, templates.length - inTurn.length))
      this.checkTemplate(template, placed, isOfOutput(node, template) ? withOutputOf(node, certain) : certain);

    switch (node.activity) {
      case 'step':
      case 'call':
      case 'waitFor':
      case 'askOperator':
      case 'compute':
        return certain.add(`steps.${node.name}`);
      case 'assign':
        return certain.add(`vars.${node.variable}`);
      case 'raise':
      case 'rethrow':
      case 'terminate':
        certain.isUnreachable = true;
        return;
      case 'sequence':
      case 'scope':
      case 'retry':
        return this.walkOneByOne(children, certain);
      case 'parallel':
        return certain.addAll(children.map((child) => this.along(child, certain)));
      case 'choice':
        return certain.addCommon([...children.map((child) => this.along(child, certain)), ...(node.otherwise ? [] : [certain.fork()])]);
      default:
        // A loop may have no turn, and the outputs of a turn are not visible outside of it.
        for (const child of children) {
          const turn = this.along(child, certain);
          for (const template of inTurn) this.checkTemplate(template, placed, turn, true);
        }
        if (answersLater(node)) certain.add(`steps.${node.name}`);
    }
  }

  private walkOneByOne(children: readonly Placed[], certain: Certain): void {
    let isSaid = false;
    for (const child of children) {
      if (certain.isUnreachable && !isSaid)
        this.world.report(
          child.path,
          'Unreachable: before this activity, a fault is raised or the order ends. Move or remove it.',
          'warning',
        );
      isSaid ||= certain.isUnreachable;
      this.walk(child, certain);
    }
  }

  private checkTemplate(template: Template, reader: Placed, certain: Certain, inTurn = false): void {
    for (const { text, pointer } of expressionsIn(template)) {
      const say = (message: string, position: number) =>
        this.world.report(reader.path, `${pointer && `${pointer}: `}${message}\n${pointedAt(text, position)}`);
      const parsed = parseExpression(text);
      if (!parsed.ok) say(parsed.message, parsed.position);
      else for (const { message, position } of this.problemsOf(parsed.expression, reader, certain, inTurn)) say(message, position);
    }
  }

  private *problemsOf(
    { steps, vars, each, fault }: Expression,
    reader: Placed,
    certain: Certain,
    inTurn: boolean,
  ): Generator<{ message: string; position: number }> {
    const loops = [...(inTurn ? [reader] : []), ...loopsAround(reader)].map(({ node }) => node.name);
    const found = [
      ...steps.map((read) => ({ message: this.stepProblem(read, reader, certain, inTurn), position: read.position })),
      ...vars.map((read) => ({ message: this.variableProblem(read, reader, certain), position: read.position })),
      ...each.map((read) => ({ message: loopProblem(read, loops), position: read.position })),
    ];
    for (const { message, position } of found) if (message !== undefined) yield { message, position };
    if (fault !== undefined && ![reader, ...aroundOf(reader)].some(({ part }) => part === 'handler'))
      yield { message: 'fault exists only inside a fault handler.', position: fault };
  }

  private stepProblem({ name, optional }: Read, reader: Placed, certain: Certain, inTurn: boolean): string | undefined {
    const [step, ...others] = this.world.steps.get(name) ?? [];
    if (!step) return `no step is named "${name}".${didYouMean(name, [...this.world.steps.keys()])}`;
    if (others.length > 0) {
      const paths = [step, ...others].map(({ path }) => path).join(', ');
      return `${others.length + 1} steps are named "${name}" (${paths}). Give the one that is meant another name: .named('…').`;
    }
    if (certain.has(`steps.${name}`)) return undefined;
    const { why, evenOptional } = whyUncertain(step, reader, inTurn);
    if (optional && !evenOptional) return undefined;
    return `"${name}" (${step.path}) may not have run before ${reader.path}: ${why}.`;
  }

  private variableProblem({ name, optional }: Read, reader: Placed, certain: Certain): string | undefined {
    const { variables } = this.world;
    if (!variables.has(name)) return `no activity sets the variable "${name}".${didYouMean(name, [...variables])}`;
    if (optional || certain.has(`vars.${name}`)) return undefined;
    return `the variable "${name}" may not be set before ${reader.path}. Set it earlier, or give a default: orElse(vars.?${name}, …).`;
  }
}

const loopProblem = ({ name }: Read, loops: readonly string[]): string | undefined =>
  loops.includes(name) ? undefined : `no forEach around it is named "${name}".${didYouMean(name, loops)}`;
