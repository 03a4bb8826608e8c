import type * as z from 'zod';
import { programOf } from '#core/definition/program';
import type { Proposed } from '#core/evolution/propose';
import type { Way } from '#core/evolution/ways';
import { clusterNamed, clustersOf, type ExceptionCluster } from '#roles/evolution/clusters';
import { type ReplayedOrder, replayCluster } from '#roles/evolution/replays';
import { openCursor, sealCursor } from './cursor.ts';
import { groupView } from './exceptions.ts';
import { badCursor } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ClusterQuery } from './schemas/clusters.ts';
import type { HistoriesBody } from './schemas/workflows.ts';
import { programNamed } from './workflows.ts';

/** Lists alike exceptions of a workflow, with a change of its definition drawn from what people did about them. It changes nothing. */
export async function listClusters({ api, caller, name, query }: Call<z.output<typeof ClusterQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['clusters', caller.subject, name] };
  const opened = query.cursor === undefined ? [0] : openCursor(query.cursor, scope);
  if (!opened) return badCursor;
  if (!api.definitions.newest(name)) return refuse('not-found');
  const from = Number(opened[0]);
  const { items, more } = await clustersOf(name, { from, limit: query.limit, now: api.clock.now() }, api);
  return json(200, { items: items.map(clusterView), next: more ? sealCursor([from + query.limit], scope) : null });
}

const clusterView = ({ group, ways, proposed }: ExceptionCluster) => {
  const { workflow: _, perHour: __, ...shown } = groupView(group);
  return { ...shown, resolutions: ways.map(wayView), ...proposedView(proposed) };
};

const wayView = ({ uses: _, ...way }: Way) => way;

function proposedView(proposed: Proposed) {
  if (!proposed.ok) return { proposal: null, why: proposed.why };
  const { kind, path, way, diff, code, definition, alsoTakes } = proposed.proposal;
  const { used, passed } = way;
  return {
    proposal: { kind, path, version: definition.version, drawnFrom: { instruction: way.instruction, used, passed }, code, diff, alsoTakes },
  };
}

export type HistoriesCall = Call<unknown, unknown, z.output<typeof HistoriesBody>>;

/** Replays a page of the orders of a cluster on its proposal. The proposal changes the newest version, and no other one. */
export async function replayOnProposal({ api, caller, name, id, body }: HistoriesCall, fingerprint: string): Promise<Answer | Refusal> {
  const program = programNamed(api.definitions, name, id);
  if (!program) return refuse('not-found');
  const wrong = (code: string, detail: string) => refuse('invalid', { errors: [{ pointer: '/cluster', code, detail }] });
  const newest = api.definitions.newest(name)?.definition.version;
  if (newest !== program.definition.version)
    return wrong('version-differs', `A proposal changes the newest version: check ${name}@${newest} instead of ${name}@${id}.`);
  const now = api.clock.now();
  const cluster = await clusterNamed(name, fingerprint, now, api);
  if (!cluster)
    return wrong('unknown', `${name} has had no such exception within 30 days. GET /workflows/${name}/clusters lists the fingerprints.`);
  if (!cluster.proposed.ok) return wrong('no-proposal', `There is no proposal to replay on. ${cluster.proposed.why}`);
  const scope = { key: api.cursorKey, bound: ['replays', caller.subject, name, id, fingerprint] };
  const opened = body.cursor === undefined ? [] : openCursor(body.cursor, scope);
  if (!opened) return badCursor;
  const after = opened[0] === undefined ? undefined : String(opened[0]);
  const target = programOf(cluster.proposed.proposal.definition);
  const { items, next } = await replayCluster(fingerprint, target, { after, limit: body.limit, now }, api);
  const count = (ends: ReplayedOrder['ends']): number => items.filter((item) => item.ends === ends).length;
  return json(200, {
    items: items.map(replayView),
    checked: items.length,
    fit: items.length - count('person'),
    assumed: count('assumed'),
    next: next === undefined ? null : sealCursor([next], scope),
  });
}

const replayView = ({ head: { orderId, workflow, processState, outcome }, ends, why, path }: ReplayedOrder) => ({
  orderId,
  version: workflow.version,
  processState,
  outcome,
  fits: ends !== 'person',
  ...(ends === 'assumed' ? { assumed: true } : {}),
  ...(why === undefined ? {} : { reason: why }),
  ...(path === undefined ? {} : { path }),
});
