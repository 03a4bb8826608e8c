import { check } from '#core/checks/check';
import { engineFaults, isKindOf, isQuestion, shortType } from '#core/data/fault';
import { isUndoPath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Catalog } from '#core/definition/catalog';
import { isRemote, rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { secretPointers } from '#core/definition/secrets';
import { differenceLines } from './difference.ts';
import { type FailingStep, type Form, formsOf } from './forms.ts';
import { separatingFields } from './separating.ts';
import { isTrusted, proposalLimits, type Way } from './ways.ts';

/** Alike exceptions, as far as a proposal depends on them. */
export interface Cluster {
  /** The path of the step without turns of loops; null if the exceptions name none. */
  readonly step: string | null;
  /** The last part of the fault's type. */
  readonly type: string;
}

/** The bodies of orders with the exception, and of others that completed without any. */
export interface Orders {
  readonly failed: readonly Json[];
  readonly good: readonly Json[];
}

/** A change of a definition, drawn from resolutions that passed. It type-checks. */
export interface Proposal extends Form {
  /** The way of people from which the proposal is drawn, with its verified uses. */
  readonly way: Way;
  /** The lines of the activity's definition that change. */
  readonly diff: readonly string[];
  /** Other steps whose faults the new handler catches, too. */
  readonly alsoTakes: readonly string[];
}

/** `why`: a sentence about why there is no proposal. */
export type Proposed = { readonly ok: true; readonly proposal: Proposal } | { readonly ok: false; readonly why: string };

const no = (why: string): Proposed => ({ ok: false, why });

/**
 * Returns the way that passed most often; undefined if too few of its uses passed. A change of the definition decides about all orders, and
 * must not do what few people did.
 */
export const trustedWay = ([first]: readonly Way[]): Way | undefined => (first && isTrusted(first) ? first : undefined);

/** Draws a proposal from the ways in which people have resolved a cluster. `program`: the newest version, which it changes. */
export function propose(
  cluster: Cluster,
  ways: readonly Way[],
  { program, catalog }: { program: Program; catalog: Catalog },
  orders: Orders,
): Proposed {
  const way = trustedWay(ways);
  if (!way) return no(tooLittle(ways));
  const failing = failingOf(cluster, program);
  if (typeof failing === 'string') return no(failing);
  const { definition } = program;
  const forms = formsOf(way, failing, separatingFields(orders.failed, orders.good, secretPointers(definition.order)));
  if (typeof forms === 'string') return no(forms);
  const before = new Set(check(definition, catalog).map(problemText));
  const problems: string[] = [];
  for (const form of forms) {
    const wrong = check(form.definition, catalog).filter((each) => each.severity === 'error' && !before.has(problemText(each)));
    if (wrong.length === 0)
      return { ok: true, proposal: { ...form, way, diff: diffOf(form, program), alsoTakes: alsoTaken(form, failing) } };
    problems.push(...wrong.map(({ message }) => message.split('\n')[0] ?? ''));
  }
  return no(`The changed definition would not type-check: ${problems[0]}`);
}

const problemText = ({ path, message }: { readonly path: string; readonly message: string }): string => `${path} ${message}`;

function tooLittle(ways: readonly Way[]): string {
  const [best] = ways;
  const { usesMin, shareMin } = proposalLimits;
  const least = `A proposal needs ${usesMin} verified uses of one instruction, of which ${shareMin * 100} % passed`;
  return best ? `${least}; of ${best.used} uses of ${best.instruction.kind}, ${best.passed} passed.` : `${least}; there is no use yet.`;
}

/** Faults of late steps. Without `onExhausted: 'fault'`, no handler of the workflow can catch them. */
const unraised: ReadonlySet<string> = new Set([engineFaults.deadlineExceeded, engineFaults.serviceUnavailable].map(shortType));

/** Returns the failing step in the present definition, or a sentence about why no change can help there. */
function failingOf({ step, type }: Cluster, program: Program): FailingStep | string {
  const node = step === null ? undefined : program.nodes.get(step);
  const version = program.definition.version;
  if (step === null) return 'The exceptions name no step.';
  if (!node) return `Version ${version} has no activity at ${step} any more.`;
  if (isUndoPath(step)) return 'An undo is repeated until it succeeds; no handler takes its faults.';
  if (isQuestion({ type })) return 'A person is asked on purpose.';
  if (unraised.has(type) && (program.definition.onExhausted ?? 'error') !== 'fault')
    return `No handler takes ${type} in this workflow: with onExhausted: 'fault', a late step raises it as a fault.`;
  const declared = isRemote(node) ? (node.faults ?? []) : [];
  const known = [...declared, ...Object.values(engineFaults)].find((each) => shortType(each) === type);
  return { program, path: step, node, fault: known ?? type };
}

const diffOf = ({ path, after }: Form, program: Program): readonly string[] =>
  differenceLines(program.nodes.get(path) as unknown as Json, after as unknown as Json);

/** Returns the other steps that can raise the fault: a handler of the whole workflow takes it from all of them. */
const alsoTaken = ({ path }: Form, { program, path: own, fault }: FailingStep): readonly string[] =>
  path !== rootPath
    ? []
    : [...program.nodes].flatMap(([each, node]) =>
        each !== own && isRemote(node) && (node.faults ?? []).some((type) => isKindOf(type, fault)) ? [each] : [],
      );
