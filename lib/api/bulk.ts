import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { lists } from '#ports/lists';
import { timeText } from '#ports/messages';
import type { BulkAction } from '#roles/bulk/bulk';
import { ordersMax, runIn } from '#roles/bulk/documents';
import { meansTooMany } from '#roles/bulk/freeze';
import { itemsOf } from '#roles/bulk/items';
import { type BulkFilter, type BulkItem, type BulkRun, figuresOf } from '#roles/bulk/run';
import { preparedEntry } from './audited.ts';
import { bulkInstruction } from './bulk-instruction.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { conflict, isRefusal, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { BulkActBody, BulkBody, BulkHeaders, BulkItemQuery, BulkQuery } from './schemas/bulk.ts';
import type { KeyHeaders } from './schemas/instructions.ts';

type Creation = Call<unknown, z.output<typeof BulkHeaders>, z.output<typeof BulkBody>>;

/** The time for which a call counts the orders of a filter. After that the run itself finds out whether they are too many. */
const countingMaxMs = 5_000;

/**
 * Creates a bulk run. The run first freezes its set of orders and checks the instruction on each. After that it starts at another call, or
 * by itself if `start` is true.
 */
export async function createBulkRun(call: Creation): Promise<Answer | Refusal> {
  const { api, caller, headers, body, requestId } = call;
  const { reason, ratePerSecond, canary, stopAfterFailures, start = false, continues } = body;
  const filter = filterOf(body);
  const isForMany = filter.ids?.length !== 1;
  const chosen = await bulkInstruction(call, isForMany);
  if (isRefusal(chosen)) return chosen;
  const { instruction, solution } = chosen;
  if (continues !== undefined && !(await api.bulk.run(continues))) return refuse('invalid', { errors: [noSuchRun(continues)] });
  const until = api.clock.now() + countingMaxMs;
  const ports = { store: api.store, now: api.clock.now() };
  if (await meansTooMany(filter, ports, () => api.clock.now() >= until)) return refuse('invalid', { errors: [tooMany] });

  let stored: (() => Promise<void>) | undefined;
  const created = await api.bulk.create(
    {
      filter,
      instruction,
      ...(solution ? { solution } : {}),
      by: caller.subject,
      reason,
      ratePerSecond,
      canary,
      stopAfterFailures,
      starts: start,
      continues,
      key: headers['idempotency-key'],
    },
    (run) => {
      const after = {
        kind: run.kind,
        ratePerSecond,
        canary: run.canary,
        stopAfterFailures: run.stopAfterFailures,
        start,
        filter: shown(filter),
        ...(solution ? { solutionId: solution.id } : {}),
        ...(continues === undefined ? {} : { continues }),
      };
      const entry = preparedEntry(call, { kind: 'bulk', target: run.id, action: run.kind, reason, before: null, after });
      stored = entry.stored;
      return entry.documents;
    },
  );
  if (created.outcome === 'key-reused') return refuse('idempotency-key-reused');
  const { id } = created.run;
  if (created.outcome === 'created') {
    await stored?.();
    api.telemetry.log('info', 'bulk run created', { requestId, by: caller.subject, bulkId: id, kind: instruction.kind });
  }
  const replayed = created.outcome === 'replayed' ? { 'idempotent-replayed': 'true' } : {};
  return json(202, { id }, { headers: { location: `/bulk/${id}`, ...replayed } });
}

const noSuchRun = (id: string) => ({
  pointer: '/continues',
  code: 'no-such-run',
  detail: `There is no bulk run "${id}". GET /bulk lists them.`,
});

const tooMany = {
  pointer: '/filter',
  code: 'too-many',
  detail: `The filter selects more than ${ordersMax} orders, which is the limit of one bulk run. Narrow it, for example with submittedBefore.`,
};

function filterOf({ filter: { submittedAfter, submittedBefore, ids, ...filter } }: z.output<typeof BulkBody>): BulkFilter {
  return {
    ...filter,
    ...(submittedAfter === undefined ? {} : { submittedAfter: Date.parse(submittedAfter) }),
    ...(submittedBefore === undefined ? {} : { submittedBefore: Date.parse(submittedBefore) }),
    ...(ids === undefined ? {} : { ids: [...new Set(ids)] }),
  };
}

/** Returns a filter as people see it: with times as text, and the number of its ids in place of the ids. */
function shown({ submittedAfter, submittedBefore, ids, ...filter }: BulkFilter): JsonObject {
  return {
    ...filter,
    ...(submittedAfter === undefined ? {} : { submittedAfter: timeText(submittedAfter) }),
    ...(submittedBefore === undefined ? {} : { submittedBefore: timeText(submittedBefore) }),
    ...(ids === undefined ? {} : { ids: ids.length }),
  };
}

export async function listBulkRuns({ api, caller, query }: Call<z.output<typeof BulkQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['bulk', caller.subject] };
  const opened = query.cursor === undefined ? [] : openCursor(query.cursor, scope);
  if (!opened) return badCursor;
  const after = opened[0] === undefined ? {} : { after: String(opened[0]) };
  const { items, next } = await api.store.listed({ list: lists.bulkRuns, order: 'descending', limit: query.limit, ...after });
  return json(200, {
    items: items.map((document) => runView(runIn(document))),
    next: next === undefined ? null : sealCursor([next], scope),
  });
}

export async function showBulkRun({ api, id }: Call): Promise<Answer | Refusal> {
  const run = await api.bulk.run(id);
  return run ? json(200, await wholeView(api, run)) : refuse('not-found');
}

export async function listBulkItems({ api, caller, id, query }: Call<z.output<typeof BulkItemQuery>>): Promise<Answer | Refusal> {
  const { outcome, limit, cursor } = query;
  const scope = { key: api.cursorKey, bound: ['bulk-items', caller.subject, id, outcome ?? null] };
  const opened = cursor === undefined ? [0] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  const run = await api.bulk.run(id);
  if (!run) return refuse('not-found');
  const { items, next } = await itemsOf(run, outcome, { from: Number(opened[0]), limit }, api.store);
  return json(200, { items: items.map(itemView), next: next === undefined ? null : sealCursor([next], scope) });
}

type Acting = Call<unknown, z.output<typeof KeyHeaders>, z.output<typeof BulkActBody>>;

const actOn =
  (action: BulkAction) =>
  async ({ api, caller, id, headers, body, requestId }: Acting): Promise<Answer | Refusal> => {
    const acted = await api.bulk.act(id, { action, by: caller.subject, reason: body.reason, key: headers['idempotency-key'] });
    switch (acted.outcome) {
      case 'not-found':
        return refuse('not-found');
      case 'key-reused':
        return refuse('idempotency-key-reused');
      case 'conflict':
        return conflict([acted.reason]);
      case 'replayed':
        return json(200, await wholeView(api, acted.run), { headers: { 'idempotent-replayed': 'true' } });
      case 'done':
        api.telemetry.log('info', 'bulk run changed', { requestId, by: caller.subject, bulkId: id, action });
        return json(200, await wholeView(api, acted.run));
    }
  };

export const startBulkRun = actOn('start');
export const pauseBulkRun = actOn('pause');
export const resumeBulkRun = actOn('resume');
export const stopBulkRun = actOn('stop');

async function wholeView(api: Pick<Call['api'], 'bulk' | 'sinceFrozen'>, run: BulkRun) {
  const asked = await api.bulk.asked(run.id);
  const solution = asked.solution ? { solutionId: asked.solution.id } : {};
  return { ...runView(run), filter: shown(asked.filter), ...solution, sinceFrozen: await api.sinceFrozen(run, asked) };
}

function runView(run: BulkRun) {
  const { id, state, by, reason, createdAt, kind, ratePerSecond, canary, stopAfterFailures, continues, set, pause, stopped, changes } = run;
  return {
    id,
    state,
    by,
    reason,
    createdAt: timeText(createdAt),
    kind,
    ratePerSecond,
    canary,
    stopAfterFailures,
    ...(continues === undefined ? {} : { continues }),
    ...figuresOf(run),
    frozenAt: set && timeText(set.at),
    paused: pause,
    stopped,
    changes: changes.map(({ at, ...change }) => ({ at: timeText(at), ...change })),
  };
}

const itemView = ({ at, ...item }: BulkItem) => ({ ...item, ...(at === undefined ? {} : { at: timeText(at) }) });
