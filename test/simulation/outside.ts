import type { Decision } from '../../lib/instruction.ts';
import { acquireLease } from '../../lib/lease.ts';
import { queues as names } from '../../lib/messages.ts';
import { orderIdOf } from '../../lib/submission.ts';
import { offers } from './app.ts';
import { responseQueue } from './history.ts';
import { type SimulatedHost, sources } from './host.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Sight } from './sight.ts';

const patienceMs = 4000;
export const clientName = 'client';

/** What of the system can be reached from outside. */
export interface Reach {
  readonly sight: Sight;
  readonly queues: SimulatedQueues;
  /** One that is alive; undefined while there is none. */
  anyHost(): SimulatedHost | undefined;
}

/** Those who use the system: they submit, signal, cancel, decide, and try again until they get an answer. */
export class Outside {
  /** Calls that are not answered yet. */
  waiting = 0;
  private readonly reach: Reach;
  private calls = 0;

  constructor(reach: Reach) {
    this.reach = reach;
  }

  submitSomething(number: number): string {
    const { chance, timeline } = this.reach.sight;
    const { workflow, body } = chance.pick(offers);
    const idempotencyKey = `order-${number}`;
    const submission = { client: clientName, idempotencyKey, workflow, order: body, responseChannel: responseQueue };
    const orderId = orderIdOf(clientName, idempotencyKey);
    const byMessage = chance.happens(0.3);
    timeline.after(chance.between(0, 60_000), `client submits ${number}`, () => {
      this.reach.sight.tell(() => `the client ${byMessage ? 'posts' : 'submits'} ${orderId}, a ${workflow}`);
      if (byMessage)
        this.reach.queues.send([{ queue: names.submissions, body: JSON.stringify({ v: 1, type: 'submission', ...submission }) }]);
      else this.persist(`submit ${number}`, async ({ system }) => this.accepted((await system.submit(submission)).outcome, orderId));
    });
    if (workflow === 'approval') for (let signals = chance.between(0, 3); signals > 0; signals--) this.signal(orderId);
    if (chance.happens(0.2)) this.cancel(orderId);
    return orderId;
  }

  private accepted(outcome: string, orderId: string): boolean {
    if (outcome !== 'accepted') throw new Error(`A submission that is right is answered ${outcome}.`);
    this.reach.sight.saw({ type: 'accepted', orderId });
    return true;
  }

  private signal(orderId: string): void {
    const { sight } = this.reach;
    sight.timeline.after(sight.chance.between(0, 150_000), 'somebody signals', () => {
      const key = `signal-${++this.calls}`;
      const signal: Decision = { kind: 'signal', name: 'approved', payload: { by: 'somebody' } };
      const heard = (answer: 'none yet' | 'accepted' | 'refused') => sight.saw({ type: 'signal', orderId, key, answer });
      // Who gives no key must not try again: nobody would know that it is the same signal.
      if (sight.chance.happens(0.5)) return this.instruct(orderId, signal, key, heard);
      heard('none yet');
      const answered = this.reach.anyHost()?.system.scheduler.instruct(orderId, signal, { id: key });
      answered?.then(({ outcome }) => heard(outcome === 'done' ? 'accepted' : 'refused')).catch(() => undefined);
    });
  }

  private cancel(orderId: string): void {
    const { sight } = this.reach;
    sight.timeline.after(sight.chance.between(0, 120_000), 'the client cancels', () =>
      this.instruct(orderId, { kind: 'cancel', by: clientName, reason: 'not wanted' }, `cancel-${++this.calls}`),
    );
  }

  /** A person looks at an order in Error and decides. */
  decide(orderId: string, { finally: isLast }: { readonly finally: boolean }): void {
    const { chance } = this.reach.sight;
    const kind = chance.pick(isLast ? (['cancel', 'compensate'] as const) : (['resubmit', 'cancel', 'compensate', 'terminate'] as const));
    const answer = kind === 'resubmit' && chance.happens(0.5) ? { answer: { yes: true } } : {};
    this.instruct(orderId, { kind, by: 'operator', reason: 'decided', ...answer }, `decision-${++this.calls}`);
  }

  /** A person has seen to an undo that would not succeed. */
  markCompensated(orderId: string, path: string): void {
    this.instruct(orderId, { kind: 'mark-compensated', path, by: 'operator', reason: 'done by hand' }, `mark-${++this.calls}`);
  }

  /** Somebody has an order to himself for a while; where his host dies, until his lease is over. */
  hold(orderId: string): void {
    const { sight } = this.reach;
    const host = this.reach.anyHost();
    if (!host) return;
    const { store, clock } = host.system;
    const lease = acquireLease(store, orderId, { holder: host.id, leaseMs: sight.chance.between(1000, 60_000), clock, policy: 'NoRetry' });
    const release = async () => (await lease)?.release();
    sight.timeline.after(sight.chance.between(500, 40_000), `${host.id} gives the order back`, () => void release().catch(() => undefined));
    lease.catch(() => undefined);
  }

  /** A message that nobody can make sense of. */
  poison(): void {
    const { sight, queues } = this.reach;
    const queue = sight.chance.pick([...sources.keys()].filter((name) => !name.endsWith('-dead')));
    const number = ++this.calls;
    const newer = `{"v":99,"type":"reply","number":${number}}`;
    const body = `${sight.chance.pick(['nonsense', '{', newer, '[]', '""'])}${' '.repeat(number)}`;
    queues.put(queue, body, 0);
    sight.saw({ type: 'poisoned', body });
  }

  private instruct(orderId: string, decision: Decision, key: string, onAnswer: (answer: 'accepted' | 'refused') => void = () => {}): void {
    const { sight } = this.reach;
    let tries = 0;
    this.persist(`${decision.kind} ${key}`, async ({ system }) => {
      const { outcome } = await system.scheduler.instruct(orderId, decision, { id: `${key}/${++tries}`, key });
      sight.tell(() => `${decision.kind} of ${orderId} is answered: ${outcome}`);
      // It may have been posted, and not be stored yet; who comes too early comes again a few times.
      if (outcome === 'not-found' && tries <= 5) return false;
      onAnswer(outcome === 'done' || outcome === 'replayed' ? 'accepted' : 'refused');
      return true;
    });
  }

  /** Tries on any host until there is an answer; nobody knows what became of a try that had none. */
  private persist(what: string, call: (host: SimulatedHost) => Promise<boolean>): void {
    const { sight } = this.reach;
    this.waiting += 1;
    let answered = false;
    const attempt = (): void => {
      let over = false;
      const again = (): void => {
        if (over || answered) return;
        over = true;
        sight.timeline.after(sight.chance.between(100, 2000), `${what} again`, attempt);
      };
      const answer = (definite: boolean): void => {
        if (over || answered) return;
        if (!definite) return again();
        answered = true;
        this.waiting -= 1;
      };
      const host = this.reach.anyHost();
      if (!host) return again();
      call(host).then(answer, again);
      sight.timeline.after(patienceMs, `${what} waits no longer`, again);
    };
    attempt();
  }
}
