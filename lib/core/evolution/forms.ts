import { shortType } from '#core/data/fault';
import { type Activity, limits, rootPath, type WorkflowDefinition } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { freshName, rewritten } from './rewrite.ts';
import type { SeparatingField } from './separating.ts';
import type { Way } from './ways.ts';

/** A change of a definition, after which orders need no person for the work that people have done by instructions. */
export interface Form {
  readonly kind: 'retry' | 'handler' | 'if';
  /** The activity that changes: a path of the present definition. */
  readonly path: string;
  /** The activity that takes its place. */
  readonly after: Activity;
  /** The next version of the workflow. */
  readonly definition: WorkflowDefinition;
  /** The change as an author would write it. */
  readonly code: string;
}

/** A step of a program that fails. `fault`: the type with its ancestors. */
export interface FailingStep {
  readonly program: Program;
  readonly path: string;
  readonly node: Activity;
  readonly fault: string;
}

/** The most retries that a proposal gives a step. */
const retriesMax = 5;

const changed = (program: Program, { kind, path, after, code }: Omit<Form, 'definition'>): Form => ({
  kind,
  path,
  after,
  definition: rewritten(program, path, after),
  code,
});

/** Returns the changes that do the same as a way, the best first; or a sentence about why no definition can do the same. */
export function formsOf(way: Way, failing: FailingStep, separating: readonly SeparatingField[]): readonly Form[] | string {
  const { kind, effect, path } = way.instruction;
  switch (kind) {
    case 'resubmit':
      return 'answer' in way.instruction ? 'A person answered a question.' : [retryForm(way, failing)];
    case 'skip':
      if (effect === 'done') return 'People did the work by hand, which no definition can do.';
      if (path !== undefined && path !== failing.path)
        return `People skipped ${String(path)}, although another step had failed. No change of a definition can be derived from that.`;
      return [...separating.map((each) => ifForm(failing, each)), goOnForm(failing)];
    case 'compensate':
    case 'recover':
      return path === undefined || path === rootPath ? [undoForm(failing)] : `People undid ${String(path)} alone.`;
    case 'cancel':
      return [undoForm(failing)];
    default:
      return `People gave the instruction ${kind}, and no change of a definition does the same for every order.`;
  }
}

/**
 * Repeats the step without a person. The pause is the time within which people had resubmitted it in 80 % of the cases that passed. The
 * number of retries is the largest number that an order needed, at most `retriesMax`.
 */
function retryForm({ uses }: Way, { program, path, node, fault }: FailingStep): Form {
  const mostUses = Math.max(...[...Map.groupBy(uses, ({ orderId }) => orderId).values()].map(({ length }) => length));
  const retries = Math.min(retriesMax, mostUses);
  const waits = uses.filter(({ verified }) => verified === 'passed').map(({ waitedMs }) => Math.ceil(waitedMs / 1000));
  const usual = waits.toSorted((one, other) => one - other)[Math.ceil(waits.length * 0.8) - 1] ?? 1;
  const intervalSeconds = Math.min(limits.secondsMax, Math.max(1, usual));
  const name = freshName(program, `${node.name}-again`);
  const options = `{ retries: ${retries}, intervalSeconds: ${intervalSeconds}, only: [${shortType(fault)}] }`;
  return changed(program, {
    kind: 'retry',
    path,
    after: { activity: 'retry', name, retries, intervalSeconds, only: [fault], do: node },
    code: `retry(${codeName(node)}, ${options}).named('${name}')`,
  });
}

/** Returns the form that leaves out the failing step when the fault comes, and goes on. */
function goOnForm({ program, path, node, fault }: FailingStep): Form {
  const [name, body] = [freshName(program, `${node.name}-if-possible`), freshName(program, `without-${node.name}`)];
  return changed(program, {
    kind: 'handler',
    path,
    after: { activity: 'scope', name, do: node, faultHandlers: [{ fault, do: { activity: 'sequence', name: body, children: [] } }] },
    code: `scope('${name}', ${codeName(node)}).on(${shortType(fault)}, () => sequence().named('${body}'))`,
  });
}

/** Undoes the whole order after the fault. */
function undoForm({ program, fault }: FailingStep): Form {
  const name = freshName(program, `undo-after-${kebab(shortType(fault))}`);
  const { root } = program.definition;
  return changed(program, {
    kind: 'handler',
    path: rootPath,
    after: { ...root, faultHandlers: [...(root.faultHandlers ?? []), { fault, do: { activity: 'compensate', name } }] },
    code: `….on(${shortType(fault)}, ({ compensate }) => compensate().named('${name}'))  // at the end of the whole workflow`,
  });
}

/** Leaves the step out for the orders for which it has always failed. */
function ifForm({ program, path, node }: FailingStep, { field, value }: SeparatingField): Form {
  const name = freshName(program, `${node.name}-if-${kebab(field.slice(field.lastIndexOf('.') + 1))}`);
  const literal = JSON.stringify(value);
  return changed(program, {
    kind: 'if',
    path,
    after: { activity: 'choice', name, branches: [{ when: { $cel: `${field} != ${literal}` }, do: node }] },
    code: `ifTrue(not(equals(${field}, ${literal})), ${codeName(node)}).named('${name}')`,
  });
}

const codeName = ({ name }: Activity): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const kebab = (type: string): string =>
  type
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, '-$&')
    .replaceAll(/\W/g, '-')
    .toLowerCase();
