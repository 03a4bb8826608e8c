import {
  askOperator,
  assign,
  cel,
  defineAgent,
  defineApp,
  defineRule,
  defineWorkflow,
  fault,
  forEach,
  ifTrue,
  operation,
  parallel,
  retry,
  secret,
  sequence,
  variables,
  waitFor,
} from 'redress';
import * as z from 'zod';
import type { Json } from '#core/data/json';
import { withoutSealed } from '#core/definition/sealed';
import type { Reply, Request } from '#ports/messages';
import { readableInstance } from '#roles/scheduler/instance';
import { type Chance, chanceOf } from '../simulation/random.ts';
import { type Desk, failed, journalOf, ok, openDesk, submitted, timePasses } from './support.ts';

const Id = z.object({ id: z.string() });
const Item = z.object({ item: z.string() });
const Refused = fault('Refused');
const Declined = fault('Declined');
const Lost = fault('Lost');
const nobody = () => ({}) as never;
export const worker = defineAgent('worker', {
  reserve: operation({ input: Item, output: Id, faults: [Refused], run: nobody }),
  release: operation({ input: Id, output: z.object({}), run: nobody }),
  charge: operation({
    input: z.object({ card: secret(z.string()), total: z.number() }),
    output: z.object({ id: secret(z.string()) }),
    faults: [Declined],
    run: nobody,
  }),
  refund: operation({ input: Id, output: z.object({}), run: nobody }),
  ship: operation({ input: z.object({ to: z.string() }), output: Id, faults: [Lost], run: nobody }),
  recall: operation({ input: Id, output: z.object({}), run: nobody }),
  tell: operation({ input: Item, output: z.object({}), run: nobody }),
});

const Order = z.object({ items: z.array(z.string()), card: secret(z.string()), asks: z.boolean(), waits: z.boolean() });
const vars = variables<{ count: number }>();

/** Loops, a retry, branches, a question, a signal, a variable and secrets: as an order needs them. */
export const mixed = defineWorkflow('mixed', { version: 1, order: Order, toOperator: [Refused, Lost] }, ({ order }) => {
  const papers = waitFor('papers', z.object({ number: z.string() }));
  const where = askOperator('where', { question: 'Where to?', answer: z.object({ to: z.string() }) });
  const charge = worker.charge({ card: order.card, total: vars.count }).undo(({ id }) => worker.refund({ id }));
  return sequence(
    assign(vars.count, 0),
    forEach(
      order.items,
      (item) =>
        sequence(
          worker.reserve({ item }).undo(({ id }) => worker.release({ id })),
          assign(vars.count, cel`${vars.count} + 1`),
        ),
      { maxConcurrency: 1 },
    ),
    retry(charge, { retries: 2, intervalSeconds: 5, evenPermanent: true }),
    ifTrue(order.waits, papers),
    ifTrue(order.asks, where),
    parallel(
      worker.ship({ to: 'home' }).undo(({ id }) => worker.recall({ id })),
      worker.tell({ item: 'all' }),
    ),
  ).on(Declined, ({ compensate }) => compensate());
});

const again = defineRule('again', {
  name: 'What is lost is tried again.',
  workflow: mixed,
  event: { kind: 'exception', type: 'Lost' },
  action: { kind: 'retry', afterSeconds: 3 },
  mode: 'enforce',
});
const app = defineApp({ workflows: [mixed], agents: [worker], rules: [again] });

/** Everything that an order has caused, and its end. */
export interface Life {
  readonly requests: readonly Json[];
  readonly end: {
    readonly processState: string;
    readonly outcome: string | null;
    readonly fault: string | null;
    readonly hasTask: boolean;
  };
  /** The lines of its journal, without numbers. */
  readonly journal: readonly Json[];
  readonly turns: number;
  /** The number of times that the state was rebuilt. */
  readonly rebuilt: number;
  readonly pages: number;
  readonly kinds: ReadonlySet<string>;
}

export interface Loss {
  /** The number of events after which the state is lost. */
  readonly turn: number;
  readonly lose: (desk: Desk) => void;
  /** Whether the life ends with the next message after the loss. */
  readonly andStops?: true;
}

const turnsMax = 400;

/** Lives the whole life of a random order in the running system. The same seed lives the same life, whatever is lost. */
export async function lived(seed: number, loss?: Loss): Promise<Life> {
  const closing: (() => unknown)[] = [];
  const after = (close: unknown) => void closing.push(close as () => unknown);
  const desk = openDesk({ after }, app, { writesAndSendsAtomically: seed % 2 === 0 });
  const life = new Living(desk, chanceOf(seed));
  try {
    await life.begin();
    for (; life.turns < turnsMax && !(await life.isOver()); life.turns++) {
      if (loss?.turn === life.turns) loss.lose(desk);
      if (loss?.turn === life.turns && loss.andStops) {
        await life.wake();
        break;
      }
      await life.turn();
    }
    return await life.told();
  } finally {
    for (const close of closing) await close();
  }
}

class Living {
  turns = 0;
  private orderId = '';
  private open: Request[] = [];
  private readonly known = new Set<string>();
  private readonly requests: Json[] = [];
  private answered: Request | undefined;
  private luck = 0;
  private readonly desk: Desk;
  private readonly chance: Chance;

  constructor(desk: Desk, chance: Chance) {
    this.desk = desk;
    this.chance = chance;
  }

  async begin(): Promise<void> {
    const { chance } = this;
    this.luck = chance.between(0, 1_000_000);
    const items = Array.from({ length: chance.between(0, 9) }, (_, index) => `item ${index}`);
    const order = { items, card: `card-${chance.between(1000, 9999)}`, asks: chance.happens(0.3), waits: chance.happens(0.3) };
    this.orderId = await submitted(this.desk, order);
    await this.collect();
  }

  async isOver(): Promise<boolean> {
    const head = await this.desk.store.head(this.orderId);
    return head?.processState === 'Processed' && this.open.length === 0;
  }

  async turn(): Promise<void> {
    const { chance, desk, open } = this;
    const head = await desk.store.head(this.orderId);
    const dice = chance.next();
    if (head?.processState === 'Error') await this.decide(head.fault?.type === 'OperatorAsked');
    else if (dice < 0.02) await this.instruct({ kind: 'cancel' });
    else if (dice < 0.05) await this.instruct({ kind: 'suspend' }, { kind: 'resume' });
    else if (dice < 0.12 || (open.length === 0 && dice < 0.6)) await this.signal();
    else if (dice < 0.15 && this.answered) await desk.answer(this.answered, this.resultFor(this.answered));
    else if (dice < 0.22 || open.length === 0) await this.passTime();
    else await this.answer();
    await this.collect();
  }

  async told(): Promise<Life> {
    const state = await this.desk.state(this.orderId);
    const { processState, outcome, fault, open = [] } = state;
    const pages = await this.desk.store.pages(this.orderId);
    const journal = readableInstance(state) ? await journalOf(this.desk, this.orderId) : [];
    const lines = journal.filter(({ type }) => type !== 'InstanceRebuilt' && type !== 'StateChanged');
    return {
      requests: this.requests,
      end: { processState, outcome, fault: fault?.type ?? null, hasTask: open.length > 0 },
      pages: pages.length,
      journal: lines.map(({ seq: _, at: __, ...line }) => this.withoutIds(line as unknown as Json)),
      turns: this.turns,
      rebuilt: journal.filter(({ type }) => type === 'InstanceRebuilt').length,
      kinds: new Set(journal.map(({ type }) => type)),
    };
  }

  async wake(): Promise<void> {
    const sentAt = new Date(this.desk.clock.now()).toISOString();
    await this.desk.send('wake-ups', { v: 1, type: 'wake-up', orderId: this.orderId, sentAt });
    await this.desk.deliver('wake-ups');
    await this.collect();
  }

  private async answer(): Promise<void> {
    const { chance, desk } = this;
    const request = chance.pick(this.open);
    this.open = this.open.filter((each) => each !== request);
    this.answered = request;
    await desk.answer(request, this.resultFor(request));
  }

  /** An agent remembers its keys, so that an answer follows from the key and the attempt. */
  private resultFor({ idempotencyKey, operation, attempt }: Request): Reply['result'] {
    const key = idempotencyKey.slice(this.orderId.length);
    const dice = chanceOf([...`${key} ${attempt}`].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) | 0, this.luck)).next();
    if (operation === 'charge' && dice < 0.3) return failed(dice < 0.05 ? 'Declined' : 'Busy', 'no', { permanent: dice < 0.05 });
    if (operation === 'ship' && dice < 0.4) return failed('Lost');
    if (operation === 'reserve' && dice < 0.03) return failed('Refused');
    return ok(['reserve', 'charge', 'ship'].includes(operation) ? { id: `${operation} of ${key}` } : {});
  }

  private async decide(isQuestion: boolean): Promise<void> {
    const dice = this.chance.next();
    if (isQuestion && dice < 0.9) await this.instruct({ kind: 'resubmit', answer: { to: 'work' } });
    else await this.instruct({ kind: dice < 0.7 ? 'resubmit' : 'compensate' });
  }

  private async instruct(...kinds: readonly object[]): Promise<void> {
    for (const kind of kinds) {
      const given = { ...kind, by: 'olga', reason: 'r' } as never;
      await timePasses(this.desk.clock, this.desk.system.scheduler.instruct(this.orderId, given, { id: `i-${this.desk.clock.now()}` }));
    }
  }

  private async signal(): Promise<void> {
    const signal = { kind: 'signal', by: 'acme', name: 'papers', payload: { number: `n-${this.turns}` } } as never;
    await timePasses(this.desk.clock, this.desk.system.scheduler.instruct(this.orderId, signal, { id: `s-${this.turns}` }));
  }

  private async passTime(): Promise<void> {
    await this.desk.clock.advance(this.chance.between(1, 15) * 1000);
    await this.desk.supervisor.pass();
    await this.desk.deliver('wake-ups');
  }

  private async collect(): Promise<void> {
    for (const request of await this.desk.requests()) {
      // A message may come twice, also after a rebuild.
      if (request.type !== 'request' || this.known.has(request.requestId)) continue;
      this.known.add(request.requestId);
      const { path, operation, attempt, epoch, input, idempotencyKey } = request;
      // A later request replaces an earlier one for the same step.
      this.open = [...this.open.filter((each) => each.path !== path), request];
      this.requests.push(this.withoutIds({ path, operation, attempt, epoch, input, idempotencyKey }));
    }
  }

  private withoutIds(value: Json): Json {
    return withoutSealed(JSON.parse(JSON.stringify(value).replaceAll(this.orderId, 'order')));
  }
}
