import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { alertsIn, problemsIn, startShop } from '../../test/processes/kill-support.ts';
import { type Ending, type Node, root, type Site, site, startNode, until } from '../../test/processes/support.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { staleWritesIn, startAudit } from './live/audit.ts';
import { withCleanup } from './live/cleanup.ts';
import { leasedOrder, leaseMs, type Pause, pauseInTurn, staleResultsIn } from './live/pauses.ts';
import { type Course, coursesOf } from './live/recoveries.ts';

const pausesOf = { full: 200, short: 10 };
/** Pairs of nodes. In each pair, one node at a time is paused. */
const pairs = 2;
const submitEveryMs = 70;
/** Maximum number of orders that are Pending or Processing, which is low because the machine may be shared. */
const openMax = 30;
const settings = { STEP_COMPLETE_WITHIN_SECONDS: String(leaseMs / 1000), SUPERVISOR_PERIOD_SECONDS: '0.1', MAX_FAILURES: '1000' };
const latencyMs = 40;
const patienceMs = 180_000;

const orderIn = (sample: string) =>
  (JSON.parse(readFileSync(`${root}examples/orders/samples/${sample}.json`, 'utf8')) as { order: object }).order;

/** G10: nodes pause for longer than their leases and their steps last, and continue without noticing that. */
export const figure: Figure = {
  shows: 'a node that was paused beyond its lease and its step timeout (SIGSTOP, SIGCONT) writes nothing stale',
  measure: (run) => withCleanup((ending) => measurePauses(ending, run)),
};

async function measurePauses(ending: Ending, { form, progress }: Run) {
  const place = site(ending);
  const shop = await startShop(ending, place, { latencyMs, failRate: 0.02 });
  const variables = { ...place.variables, ...shop.urls, ...settings, REDRESS_APP: `${root}examples/orders/app.ts` };
  const nodes = await Promise.all(Array.from({ length: 2 * pairs }, () => startNode(ending, variables)));
  const embedded = place.open();
  const audit = await startAudit(embedded);

  const { answered, pauses } = await pauseAll(nodes, place, pausesOf[form], progress);
  const open = embedded.database.prepare("SELECT head FROM states WHERE processState IN ('Pending', 'Processing') LIMIT 3");
  // The report names the orders that are still open then.
  await until('every order comes to its end', () => open.all().length === 0, patienceMs).catch(() => progress(JSON.stringify(open.all())));
  const counted = await Promise.all(nodes.map((node) => node.call('counts')));
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')));

  const courses = await coursesOf(embedded.store, [...answered.values()]);
  const writes = audit.writes();
  const stale = [...staleWritesIn(writes), ...courses.flatMap(({ state, journal }) => [...staleResultsIn(state.orderId, journal)])];
  const witnesses = { answered, givenUp: new Set<string>(), effects: shop.effects(), alerts: alertsIn(place) };
  const problems = [
    ...problemsIn(
      [...answered.keys()].flatMap((key, index) => (courses[index] ? [shownOf(courses[index], key)] : [])),
      witnesses,
    ),
  ];
  return judged(form, { pauses, stale, problems, writes, courses, counted });
}

const shownOf = ({ state: { orderId, processState, outcome, failureCount, fault } }: Course, reference: string) => ({
  orderId,
  reference,
  processState,
  outcome,
  failureCount,
  fault,
});

/** Submits orders at all nodes in turn, paused ones too, while in each pair one node after the other is paused. */
async function pauseAll(nodes: readonly Node[], place: Site, count: number, progress: Run['progress']) {
  const answered = new Map<string, string>();
  const embedded = place.open();
  const halves = Array.from({ length: pairs }, (_, index) => [nodes[2 * index], nodes[2 * index + 1]] as [Node, Node]);
  const leased = await Promise.all(halves.map(([node], index) => leasedOrder(node, embedded, `held-${index}`, orderIn('address-invalid'))));
  let over = false;
  let done = 0;
  const order = orderIn('ok');
  const open = embedded.database.prepare("SELECT count(*) AS count FROM states WHERE processState IN ('Pending', 'Processing')");
  const openCount = () => Number(open.get()?.['count']);
  const submitting = (async () => {
    const all: Promise<unknown>[] = [];
    for (let index = 0; !over; index++) {
      while (!over && openCount() >= openMax) await sleep(submitEveryMs);
      const node = nodes[index % nodes.length] as Node;
      const key = `order-${index}`;
      const sent = index % 10 === 7 ? { ...order, card: 'tok_declined' } : order;
      const submitted = node.call('submit', key, sent as never, 'fulfil-order').then((orderId) => answered.set(key, orderId));
      // A rejection is reported when all submissions are awaited.
      submitted.catch(() => undefined);
      all.push(submitted);
      await sleep(submitEveryMs);
    }
    await Promise.all(all);
  })();
  submitting.catch(() => undefined);
  const onPause = () => {
    done += 1;
    if (done % 25 === 0) progress(`${done} of ${count} pauses`);
  };
  const pauses = await Promise.all(halves.map((pair, index) => pauseInTurn(pair, leased[index] ?? '', count / pairs, onPause))).finally(
    () => {
      over = true;
    },
  );
  await submitting;
  for (const [index, orderId] of leased.entries()) answered.set(`held-${index}`, orderId);
  return { answered, pauses: pauses.flat() };
}

interface Found {
  readonly pauses: readonly Pause[];
  readonly stale: readonly string[];
  readonly problems: readonly string[];
  readonly writes: readonly unknown[];
  readonly courses: readonly Course[];
  readonly counted: readonly Readonly<Record<string, number>>[];
}

function judged(form: Run['form'], { pauses, stale, problems, writes, courses, counted }: Found) {
  const expiries = courses.flatMap(({ journal }) => journal.filter(({ type }) => type === 'DeadlineExpired').map(({ at }) => at));
  const withExpiry = pauses.filter(({ from, to }) => expiries.some((at) => from + leaseMs <= at && at <= to + leaseMs)).length;
  const leasesTaken = pauses.filter((pause) => pause.takenOver);
  const leasesRefused = leasesTaken.filter(({ refused }) => refused).length;
  const count = (name: string) => counted.reduce((sum, counts) => sum + (counts[name] ?? 0), 0);
  const completed = courses.filter(({ state }) => state.outcome === 'completed').length;
  const lacks: readonly (readonly [boolean, string])[] = [
    [leasesTaken.length >= 0.5 * pauses.length, `only ${leasesTaken.length} leases were taken over`],
    [leasesRefused === leasesTaken.length, `${leasesTaken.length - leasesRefused} holders were not refused after their lease`],
    [withExpiry >= (form === 'full' ? 0.6 : 0.1) * pauses.length, `steps were taken over in ${withExpiry} of ${pauses.length} pauses only`],
    [count('expired') + count('staleReply') + count('raceLost') > 0, 'no node tried anything stale'],
    [completed >= 0.6 * courses.length, 'too few orders completed'],
  ];
  const shortfalls = [...stale.slice(0, 20), ...problems.slice(0, 20), ...lacks.filter(([holds]) => !holds).map(([, lack]) => lack)];
  return measured(shortfalls, {
    pauses: pauses.length,
    leaseMs,
    staleWritesAccepted: stale.length,
    writes: writes.length,
    orders: courses.length,
    completed,
    wrong: problems.length,
    pausesWithStepsTakenOver: withExpiry,
    leasesTakenOver: leasesTaken.length,
    leasesRefused,
    stepsExpired: expiries.length,
    stoppedByDeadline: count('expired'),
    staleReplies: count('staleReply'),
    racesLost: count('raceLost') + count('recoveryLost'),
  });
}
