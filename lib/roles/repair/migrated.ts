import { isDeepStrictEqual } from 'node:util';
import { definitionPath } from '#core/data/ids';
import { awaitsReply } from '#core/data/step-state';
import { type Activity, isRemote } from '#core/definition/definition';
import { inputOf, type Program, stepAt } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { subjectOf } from '#ports/records';
import type { Page } from '#ports/store';
import { hashOf } from '#roles/definitions/pinning';
import type { Instance, StoredEntry } from '#roles/scheduler/instance';
import { storedJournal } from '#roles/scheduler/step-report';
import type { Loaded } from '#roles/scheduler/types';
import { refolded } from './exact.ts';
import { explained } from './fold.ts';

/** An order under another version of its workflow, or a sentence about what does not fit. */
export type Migrated =
  | { readonly ok: true; readonly loaded: Loaded }
  | { readonly ok: false; readonly reason: string; readonly path?: string };

/**
 * Moves an order to another version of its workflow. That version must explain the whole journal: applied to its events, it leads to the
 * facts that are recorded. An open step must have the same request there. Pure. `pages`: the journal outside of the instance.
 */
export function migrated(loaded: Loaded, target: Program, pages: readonly Page[]): Migrated {
  const { order, record, instance: stored, program: present } = loaded;
  const { name, version, recover = 'step', onExhausted = 'error', maxFailures = record.maxFailures } = target.definition;
  const limits = { recover, onExhausted, maxFailures: stored.state.amended?.maxFailures ?? maxFailures };
  const pinned = { ...record, ...limits, workflow: { name, version }, definition: hashOf(target.definition) };
  const moved = { program: target, order, record: pinned };
  const other = otherRequest(present, target, storedJournal(pages, stored.tail));
  if (other !== undefined) return { ok: false, ...other };
  const result = refolded(moved, pages, explained);
  if (!result.ok) return { ok: false, reason: `Version ${version} does not lead to what the order has done. ${result.reason}` };
  const { instance } = result;
  const program = withRuledUndos(target, instance.state);
  const changed = changedRequest(loaded, { ...moved, program, instance });
  if (changed !== undefined) return { ok: false, ...changed };
  return { ok: true, loaded: { ...moved, program, instance, rebuilt: true, migratedFrom: present.definition.version } };
}

/** Finds a step that was requested, and that calls another operation in the target. `lines`: the journal, as stored. */
export function otherRequest(program: Program, target: Program, lines: readonly StoredEntry[]) {
  const version = target.definition.version;
  for (const line of lines) {
    if (line.type !== 'StepRequested') continue;
    const [before, after] = [program, target].map(({ nodes }) => operationOf(nodes.get(definitionPath(line.path))));
    if (before === undefined || before === after) continue;
    const becomes = after === undefined ? `has no step there` : `calls ${after} there`;
    return { path: line.path, reason: `${line.path} has called ${before}, and version ${version} ${becomes}.` };
  }
  return undefined;
}

const operationOf = (node: Activity | undefined): string | undefined =>
  node && isRemote(node) ? `${node.agent}.${node.operation}` : undefined;

type OrderAndInstance = Pick<Loaded, 'program' | 'order'> & { readonly instance: Instance };

/**
 * Finds an open step that the target would request with another input or another time limit. If the service has refused a step for certain,
 * its next request is a new effect, which may have another input.
 */
function changedRequest(before: OrderAndInstance, after: OrderAndInstance) {
  const { version } = after.program.definition;
  for (const path of Object.keys(before.instance.state.activities)) {
    const [was, is] = [before, after].map((each) => requestAt(each, path));
    if (was === undefined || was.isRefused) continue;
    if (!isDeepStrictEqual(was.input, is?.input))
      return {
        path,
        reason: `${path} is at work with an input that version ${version} would not give it. Wait for its reply, then migrate.`,
      };
    if (was.completeBy !== is?.completeBy)
      return {
        path,
        reason: `${path} is at work under another time limit than version ${version} gives it. Wait for its reply, then migrate.`,
      };
  }
  return undefined;
}

function requestAt({ program, order, instance: { state } }: OrderAndInstance, path: string) {
  const step = stepAt(program, state, path);
  if (!step) return undefined;
  const input = inputOf(program, subjectOf(order), state, path);
  return {
    input: input.ok ? input.value : undefined,
    completeBy: awaitsReply(step) ? step.completeBy : undefined,
    isRefused: step.phase === 'refused',
  };
}
