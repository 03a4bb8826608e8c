import type { Embedded } from '#adapters/sqlite/open';
import { nodeAt } from '#core/definition/program';
import type { Document } from '#ports/documents';
import { announcedAs } from '#ports/records';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import type { Ending } from './end-state.ts';
import type { History, Tracked } from './history.ts';
import { responseQueue, type Scenario } from './scenario.ts';
import type { Effect } from './services.ts';

/** How many effects each step has at the end, by its path: `order/ship-one > order/charge`. */
export type Standing = ReadonlyMap<string, number>;

/** The data that the laws judge, after everything has come to rest. */
export interface Evidence {
  readonly history: History;
  readonly embedded: Embedded;
  readonly effects: ReadonlyMap<string, Effect>;
  /** Signals sent to each order. */
  readonly signals: ReadonlyMap<string, number>;
  readonly ending: Ending;
  readonly poison: NonNullable<Scenario['poison']>;
}

/** Returns all violations in one run, as text. */
export const brokenLaws = (evidence: Evidence): readonly string[] => [
  ...[...evidence.history.orders.values()].flatMap((order) => [
    ...journalOf(order),
    ...effectsOf(order, evidence),
    ...undoOrderOf(order),
    ...childrenOf(order, evidence),
    ...alertsOf(order, evidence),
    ...statusesOf(order, evidence),
    ...outboxOf(order),
    ...signalsOf(order, evidence),
  ]),
  ...poisonIn(evidence),
];

export function standingIn(effects: ReadonlyMap<string, Effect>, history: History): Standing {
  const standing = new Map<string, number>();
  for (const { orderId, path, undone } of effects.values()) {
    const label = `${history.orders.get(orderId)?.label ?? ''}${path}`;
    if (!undone) standing.set(label, (standing.get(label) ?? 0) + 1);
  }
  return standing;
}

/** S6: the journal ends once. After that nothing begins, unless the caller compensates the order. */
function journalOf({ orderId, journal, state, caller }: Tracked): readonly string[] {
  const ends = journal.flatMap(({ type }, index) => (type === 'OrderProcessed' ? [index] : []));
  const wanted = state.processState === 'Processed' ? 1 : 0;
  const begun =
    ends.length > 0 && journal.slice((ends[0] ?? 0) + 1).some(({ type }) => type === 'StepRequested' || type === 'ActivityStarted');
  if (caller) return wanted > ends.length ? [`the journal of ${orderId} has no end`] : [];
  return [
    ...(ends.length === wanted ? [] : [`the journal of ${orderId} has ${ends.length} ends instead of ${wanted}`]),
    ...(begun ? [`an activity of ${orderId} began after its end`] : []),
  ];
}

/** S7, S11: the effects at the end are those of the journal. */
function effectsOf(order: Tracked, { effects }: Evidence): readonly string[] {
  const { orderId, state, journal, program, label } = order;
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated') return [];
  const told = new Set(journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])));
  const standing = [...effects.values()].filter((effect) => effect.orderId === orderId && !effect.undone);
  const keys = new Set(standing.map(({ key }) => key));
  const done = doneBy(order);
  // Effects without an undo stay, and so do those of a handler that ran after the undoing.
  const hasUndo = ({ path }: Effect) => nodeAt(program, path).undo !== undefined && !told.has(path);
  const isLeft = ({ key, path }: Effect) => !done.has(key) || (outcome !== 'completed' && !/\/on-[^/]+\//.test(path));
  const tooMuch = standing.filter((effect) => hasUndo(effect) && isLeft(effect));
  return [
    ...tooMuch.map(({ operation, path }) => `the order ended as ${outcome}, but the effect of ${operation} remains (${label}${path})`),
    ...[...done]
      .filter(([key]) => !keys.has(key))
      .map(([, path]) => `the journal has ${label}${path} as done, but its effect does not exist`),
  ];
}

/** Returns the paths that the journal has as done and not undone since, by idempotency key. */
function doneBy({ orderId, journal, program }: Tracked): ReadonlyMap<string, string> {
  const done = new Map<string, string>();
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    const node = nodeAt(program, fact.path);
    const undone = fact.path.endsWith('/undo') ? fact.path.slice(0, -'/undo'.length) : undefined;
    const generation = fact.attemptId?.slice(0, fact.attemptId.indexOf('#'));
    const isDone = fact.result === 'Succeeded' && generation !== undefined && node.activity === 'step';
    if (isDone && undone === undefined) done.set(`${orderId}/${fact.path}/${generation}`, fact.path);
    if (fact.result === 'Compensated' && undone !== undefined)
      for (const [key, path] of done)
        if (path === undone || path.startsWith(`${undone}/`) || path.startsWith(`${undone}[`)) done.delete(key);
  }
  return done;
}

/** S11, F-101: each undo is for the newest step known as done. */
function undoOrderOf({ journal, label }: Tracked): readonly string[] {
  const done: string[] = [];
  const wrong: string[] = [];
  const asked = new Set(
    journal.flatMap((fact) => (fact.type === 'StepRequested' && fact.path.endsWith('/undo') ? [fact.path.slice(0, -5)] : [])),
  );
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    if (fact.result === 'Succeeded' && asked.has(fact.path)) done.push(fact.path);
    const path = fact.result === 'Compensated' ? fact.path.replace(/\/undo$/, '') : undefined;
    if (path === undefined || !done.includes(path)) continue;
    if (done.at(-1) !== path) wrong.push(`${label}${path} is undone before ${done.at(-1)}, which was done later`);
    done.splice(done.lastIndexOf(path), 1);
  }
  return wrong;
}

/** F-80, F-100: a called order ends before its caller, and is undone with it. */
function childrenOf({ orderId, state: { processState, outcome } }: Tracked, { history }: Evidence): readonly string[] {
  if (processState !== 'Processed' || outcome === 'terminated') return [];
  return history.childrenOf(orderId).flatMap(({ state, program }) => {
    const { name } = program.definition;
    if (state.processState !== 'Processed') return [`the order ended as ${outcome}, but its called order ${name} is ${state.processState}`];
    return outcome !== 'completed' && state.outcome === 'completed'
      ? [`the order ended as ${outcome}, but its called order ${name} is completed`]
      : [];
  });
}

/** S17: every order that waits for a person has an alert. */
function alertsOf({ label, state }: Tracked, { embedded }: Evidence): readonly string[] {
  if (state.errorGen === 0) return [];
  const ids = new Set(embedded.publisher.published(0, 10_000).map(({ id }) => id));
  const missing = Array.from({ length: state.errorGen }, (_, index) => `${announcedAs(state)}#${index + 1}`).filter((id) => !ids.has(id));
  return missing.map((id) => `${label}the alert ${id} was never announced`);
}

/** S18: the client receives "received" first, the end once and last, and one status for each number. */
function statusesOf({ orderId, state }: Tracked, { embedded }: Evidence): readonly string[] {
  if (state.responseChannel === null) return [];
  const bodies = embedded.database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id').all(responseQueue) as {
    body: string;
  }[];
  const sent = bodies.map(({ body }) => JSON.parse(body) as { orderId: string; seq: number; status: string });
  const local = sent.filter((message) => message.orderId === orderId);
  const bySeq = new Map(local.map(({ seq, status }) => [seq, status]));
  const told = [...bySeq].sort(([one], [other]) => one - other).map(([, status]) => status);
  const terminal = told.findIndex((status) => status === 'completed' || status === 'failed');
  const isProcessed = state.processState === 'Processed';
  return [
    ...(told.length === state.statusSeq ? [] : [`the client received ${told.length} statuses instead of ${state.statusSeq}`]),
    ...(told[0] === 'received' || told.length === 0 ? [] : [`the client received "${told[0]}" first`]),
    ...(terminal >= 0 && terminal < told.length - 1 ? [`the client received a status after the end: ${told.join(', ')}`] : []),
    ...(isProcessed === terminal >= 0 ? [] : [`the order is ${state.processState}, but the client received: ${told.join(', ')}`]),
    ...local
      .filter(({ seq, status }) => bySeq.get(seq) !== status)
      .map(({ seq }) => `the client received two statuses under number ${seq}`),
  ];
}

/** A signal counts once, however often it was sent. */
function signalsOf({ orderId, label, journal }: Tracked, { signals }: Evidence): readonly string[] {
  const received = journal.filter(({ type }) => type === 'SignalReceived').length;
  const sent = signals.get(orderId) ?? 0;
  return received > sent ? [`${label}${sent} signals were sent, but the journal has ${received}`] : [];
}

/** S26: the outbox is empty at the end. */
const outboxOf = ({ label, state: { outbox } }: Tracked): readonly string[] => outbox.map(({ id }) => `${label}${id} was never sent`);

/** S25: every invalid message becomes a dead letter, unchanged. No valid message does. */
function poisonIn({ embedded, poison }: Evidence): readonly string[] {
  const dead = embedded.database.prepare("SELECT body FROM messages WHERE queue LIKE '%-dead'").all() as { body: string }[];
  const aside = embedded.database.prepare("SELECT record FROM documents WHERE collection LIKE 'DEAD-LETTER#%'").all() as {
    record: string;
  }[];
  const bodies = [...dead.map(({ body }) => body), ...aside.map(({ record }) => deadLetterIn(JSON.parse(record) as Document).body)];
  const known = new Set(poison.map(({ body }) => body));
  return [
    ...[...known].filter((body) => !bodies.includes(body)).map((body) => `the invalid message ${body} is lost`),
    ...bodies.filter((body) => !known.has(body)).map((body) => `a valid message became a dead letter: ${body}`),
  ];
}
