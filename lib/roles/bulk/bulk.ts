import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Document, Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { askedDocument, bulkDocuments, runDocument, runIn } from './documents.ts';
import { type BulkAsked, type BulkChange, type BulkRun, isFinal, noOutcomes, noVerdicts } from './run.ts';

interface Ports {
  readonly store: Pick<Documents, 'document' | 'documents' | 'putDocument'>;
  /** Announces that a run needs a process. Without it, a process finds the run by itself within a minute. */
  readonly publisher?: Publisher | undefined;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A new run, apart from what the system adds. */
export interface BulkDraft extends BulkAsked {
  readonly by: string;
  readonly reason: string;
  readonly ratePerSecond: number;
  readonly canary?: number | undefined;
  readonly stopAfterFailures?: number | undefined;
  readonly starts: boolean;
  /** The id of the earlier run whose untouched orders this one takes. */
  readonly continues?: string | undefined;
  /** The idempotency key of the API call. It names the run: the same key leads to the same run. */
  readonly key: string;
}

export type BulkCreated =
  | { readonly outcome: 'created' | 'replayed'; readonly run: BulkRun }
  /** An earlier API call with other content had this idempotency key. */
  | { readonly outcome: 'key-reused' };

export type BulkAction = Exclude<BulkChange['action'], 'create'>;

/** An act of a person on a run. */
export interface BulkAct {
  readonly action: BulkAction;
  readonly by: string;
  readonly reason: string;
  readonly key?: string | undefined;
}

export type BulkActed =
  | { readonly outcome: 'done' | 'replayed'; readonly run: BulkRun }
  | { readonly outcome: 'not-found' | 'key-reused' }
  /** The run's state does not allow the action. */
  | { readonly outcome: 'conflict'; readonly reason: string };

/** The actions of people on bulk runs. */
export interface Bulk {
  run(id: string): Promise<BulkRun | undefined>;
  asked(id: string): Promise<BulkAsked>;
  /** `beside`: documents for the transaction of the write, such as the audit's entry. */
  create(draft: BulkDraft, beside: (run: BulkRun) => readonly Document[]): Promise<BulkCreated>;
  act(id: string, act: BulkAct): Promise<BulkActed>;
}

/** A run remembers at most this many changes, and `callsMax` calls: the newest ones. */
const changesMax = 100;
const callsMax = 20;

export function createBulk({ store, publisher, clock, telemetry }: Ports): Bulk {
  const documents = bulkDocuments(store);

  /** Tells the bulk function that a run needs it. If the announcement is lost, the next scheduled start of the function finds the run. */
  async function wake({ id }: BulkRun): Promise<void> {
    const at = clock.now();
    const announcementId = `bulk/${id}/${at}`;
    try {
      await publisher?.publish([
        {
          id: announcementId,
          detailType: 'Bulk Run Waiting',
          detail: { id: announcementId, at: timeText(at), class: null, type: 'BulkRun', bulkId: id },
        },
      ]);
    } catch (error) {
      telemetry.log('warn', 'cannot announce a bulk run', { bulkId: id, error });
    }
  }

  return {
    run: documents.run,
    asked: documents.asked,

    async create(draft, beside) {
      const run = newRun(draft, clock.now());
      const { filter, instruction, solution } = draft;
      const askedFor = askedDocument(run, { filter, instruction, ...(solution ? { solution } : {}) });
      const write = await store.putDocument(runDocument(run, 1), 0, [askedFor, ...beside(run)]);
      if (write.outcome === 'refused') {
        const existing = write.current ? runIn(write.current) : await documents.run(run.id);
        return existing?.asked === run.asked ? { outcome: 'replayed', run: existing } : { outcome: 'key-reused' };
      }
      await wake(run);
      return { outcome: 'created', run };
    },

    async act(id, act) {
      let refused: Exclude<BulkActed, { outcome: 'done' }> = { outcome: 'not-found' };
      const call = act.key === undefined ? undefined : { name: short([act.by, act.key]), hash: short([act.action, act.reason]) };
      const changed = await documents.change(id, (run) => {
        const before = call && run.calls.find(({ name }) => name === call.name);
        if (before) {
          refused = before.hash === call.hash ? { outcome: 'replayed', run } : { outcome: 'key-reused' };
          return undefined;
        }
        const next = nextOf(run, act.action);
        if (typeof next === 'string') {
          refused = { outcome: 'conflict', reason: next };
          return undefined;
        }
        const { action, by, reason } = act;
        const change: BulkChange = { at: clock.now(), by, action, reason };
        return {
          ...run,
          ...next,
          changes: [...run.changes, change].slice(-changesMax),
          calls: [...run.calls, ...(call ? [call] : [])].slice(-callsMax),
        };
      });
      if (!changed) return refused;
      if (changed.state === 'running') await wake(changed);
      return { outcome: 'done', run: changed };
    },
  };
}

/** Returns what an action changes, or why the run's state does not allow it. */
function nextOf(run: BulkRun, action: BulkAction): Partial<BulkRun> | string {
  const { state, pause } = run;
  if (isFinal(run)) return `The bulk run is ${state}, which is final. Prepare a new one.`;
  switch (action) {
    case 'start':
      if (state === 'ready') return { state: 'running' };
      return state === 'preparing'
        ? 'The bulk run is still being prepared. Start it when it is ready.'
        : `The bulk run has started already: it is ${state}.`;
    case 'pause':
      // A run that has paused itself may go on by itself. A pause of a person prevents that.
      if (state === 'running' || (state === 'paused' && pause?.by !== 'person')) return { state: 'paused', pause: { by: 'person' } };
      return `Only a running bulk run can be paused; this one is ${state}.`;
    case 'resume':
      if (state !== 'paused') return `Only a paused bulk run can be resumed; this one is ${state}.`;
      return { state: 'running', pause: null, canaryPassed: run.canaryPassed || pause?.by === 'canary' || isCanaryOver(run) };
    case 'stop':
      return { state: 'stopped', pause: null };
  }
}

/**
 * Whether a run has applied its instruction to all orders of its canary, even if another pause came before the canary could pause the run.
 */
const isCanaryOver = ({ canary, counts, ahead }: BulkRun): boolean => canary !== null && counts.applied + ahead.applied >= canary;

function newRun({ by, key, filter, instruction, solution, ...draft }: BulkDraft, createdAt: number): BulkRun {
  const { reason, ratePerSecond, canary = null, stopAfterFailures = null, starts, continues } = draft;
  const continuing = continues === undefined ? {} : { continues };
  const settings = { reason, ratePerSecond, canary, stopAfterFailures, starts, ...continuing };
  const asked = hash(
    'sha256',
    JSON.stringify([filter, instruction, settings, ...(solution ? [solution] : [])] as unknown as Json),
    'base64url',
  );
  return {
    id: `blk_${hash('sha256', JSON.stringify([by, key]), 'hex').slice(0, 26)}`,
    state: 'preparing',
    by,
    ...settings,
    createdAt,
    kind: instruction.kind,
    asked,
    set: null,
    checked: 0,
    cursor: 0,
    counts: noOutcomes,
    ahead: noOutcomes,
    verdicts: noVerdicts,
    verifyAt: null,
    canaryPassed: false,
    pause: null,
    stopped: null,
    agents: [],
    epoch: 0,
    heldBy: null,
    heldUntil: 0,
    changes: [{ at: createdAt, by, action: 'create', reason }],
    calls: [],
  };
}

const short = (value: JsonObject | Json): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);
