import type { App, WorkflowDefinition } from 'redress';
import { isObject } from '#core/data/json';
import { rolloutMs } from '#ports/errors';
import type { OrderRecord, StateRecord } from '#ports/records';
import { orderIdOf } from '#roles/submission/submission';
import { Mail } from './mail.ts';
import { type Place, responses } from './place.ts';
import { openSimulatedPlace } from './places/simulation.ts';
import { Services } from './services.ts';
import { shopOf } from './shop.ts';
import type { Story } from './version-stories.ts';

/**
 * `forward`: the second version is deployed while orders of the first are running. `back`: it is rolled back while its
 * own orders are running, and deployed again.
 */
export type Direction = 'forward' | 'back';

/** The final state of a story's order, and of the orders that it called. */
export interface Ending {
  readonly outcome: StateRecord['outcome'];
  /** `sale@1` */
  readonly workflow: string;
  readonly effects: readonly string[];
}

export interface Changed {
  readonly ending: Ending;
  /** Whether the order has come to that step, instead of ending before it. */
  readonly reached: boolean;
  /** Number of steps. */
  readonly writes: number;
  /** Orders that were blocked because their version was missing. */
  readonly stood: number;
  readonly wrong: readonly string[];
}

type Found = { readonly order: OrderRecord; readonly state: StateRecord };

const client = 'client';
const mainKey = 'the story';
const mainId = orderIdOf(client, mainKey);
const lookEveryMs = 500;
const lookSeldomMs = 30_000;
const patienceMs = 240_000;
/**
 * The time by which every order with a missing version is blocked. Until then it may be on its way; a caller misses its
 * called order later still.
 */
const withoutMs = rolloutMs + 1_800_000;
const gone = /^its workflow [a-z]+@2 is not part of this app$/;

/**
 * Plays a story, and changes the app after the given number of writes: the host that wrote last crashes before it sends
 * anything.
 */
export async function changeAt(story: Story, direction: Direction, step: number, undisturbed?: Ending): Promise<Changed> {
  const trap = new Trap(step);
  const old = shopOf(story.workflows);
  const both = shopOf([...story.workflows, ...secondVersions(story.workflows)]);
  const [before, after] = direction === 'forward' ? [old, both] : [both, old];
  const services = new Services(story);
  const place = await openSimulatedPlace({ app: before, variables: {}, services, mail: trap, responses });
  const living = new Living(place, story);
  try {
    living.submit(mainKey);
    await living.until(() => trap.isSprung);
    const reached = trap.isSprung;
    if (reached) await (direction === 'forward' ? living.goForward(after) : living.goBack(after, before));
    await living.until(() => false);
    const ending = await living.ending(services);
    if (undisturbed && JSON.stringify(ending) !== JSON.stringify(undisturbed))
      living.wrong.push(`it ends as ${JSON.stringify(ending)}, and undisturbed as ${JSON.stringify(undisturbed)}`);
    return { ending, reached, writes: trap.writes, stood: living.stood, wrong: living.wrong };
  } finally {
    await place.close();
  }
}

/**
 * The same workflows in another version: they call each other in that version. The effects of their steps name the
 * requesting version, so that an order that continues under the wrong version shows.
 */
function secondVersions(workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  const called = new Set(workflows.map(({ name }) => `${name}@1`));
  const second = (key: string, value: unknown): unknown => {
    if (key === 'operation' && called.has(String(value))) return String(value).replace(/1$/, '2');
    return key === 'input' && isObject(value) && 'what' in value ? { ...value, edition: 2 } : value;
  };
  return workflows.map((each) => ({ ...(JSON.parse(JSON.stringify(each, second)) as WorkflowDefinition), version: 2 }));
}

/** Fires at the write with that number; its writer never gets the answer. */
class Trap extends Mail {
  isSprung = false;
  writes = 0;
  private readonly step: number;

  constructor(step: number) {
    super({ mail: [] });
    this.step = step;
  }

  override around<P extends Parameters<Mail['around']>[0]>(given: P): P {
    const ports = super.around(given);
    const { store } = ports;
    const caught = async <W extends { readonly outcome: string }>(write: Promise<W>): Promise<W> => {
      const done = await write;
      if (done.outcome === 'written' && ++this.writes === this.step) this.isSprung = true;
      return this.isSprung && this.writes === this.step ? new Promise<never>(() => {}) : done;
    };
    return {
      ...ports,
      store: {
        ...store,
        create: (...write) => caught(store.create(...write)),
        update: (...write) => caught(store.update(...write)),
        patch: (...write) => caught(store.patch(...write)),
      },
    };
  }
}

/** A running story, with its people. */
class Living {
  readonly wrong: string[] = [];
  stood = 0;
  private readonly signaled = new Set<string>();
  private readonly place: Place;
  private readonly story: Story;
  private calls = 0;

  constructor(place: Place, story: Story) {
    this.place = place;
    this.story = story;
  }

  /** A client without an answer has its order anyway, once it is written. */
  submit(idempotencyKey: string): void {
    const { order } = this.story;
    void this.place.system.submit({ client, idempotencyKey, order, responseChannel: responses });
  }

  private async orders(): Promise<readonly Found[]> {
    const { items } = await this.place.store.list({}, undefined, 100);
    const found = await Promise.all(items.map(({ order }) => this.place.store.load(order.orderId)));
    return found.filter((each) => each !== undefined);
  }

  /** Waits until the condition holds, every order has ended, or no more progress is possible. */
  async until(isSo: () => boolean): Promise<void> {
    for (let waitedMs = 0; waitedMs < patienceMs && !isSo(); waitedMs += lookEveryMs) {
      await this.place.pass(lookEveryMs);
      const open = (await this.orders()).filter(({ state }) => state.processState !== 'Processed');
      if (open.length === 0) return;
      if (!isSo()) for (const { state } of open) await this.attendTo(state);
    }
  }

  /** A person answers each question, and an awaited signal is sent. */
  private async attendTo({ orderId, fault }: StateRecord): Promise<void> {
    if (fault?.type === 'OperatorAsked') await this.instruct(orderId, { kind: 'resubmit', answer: { yes: true } });
    else if (this.story.signal && !this.signaled.has(orderId)) {
      const signal = { kind: 'signal', ...this.story.signal } as const;
      const instructed = await this.passing(this.place.system.scheduler.instruct(orderId, signal, { id: `call-${++this.calls}` }));
      if (instructed?.outcome === 'done') this.signaled.add(orderId);
    }
  }

  private async instruct(
    orderId: string,
    decision: { readonly kind: 'resubmit'; readonly answer?: { yes: boolean } },
  ): Promise<string | undefined> {
    const instruction = { ...decision, by: 'olga', reason: 'it goes on' };
    const call = this.place.system.scheduler.instruct(orderId, instruction, { id: `call-${++this.calls}` });
    return this.passing(
      call.then(
        (instructed) =>
          instructed.outcome === 'infeasible' ? instructed.refusals.map(({ detail }) => detail).join(' ') : instructed.outcome,
        (error: Error) => error.message,
      ),
    );
  }

  /** A client of a host that crashes gets no answer. */
  private async passing<T>(work: Promise<T>): Promise<T | undefined> {
    let heard: T | undefined;
    let over = false;
    void work.then((answer) => ([heard, over] = [answer, true]));
    for (let tries = 0; !over && tries < 200; tries++) await this.place.pass(10);
    return heard;
  }

  /** The old order continues under its version, and new orders get the new one. */
  async goForward(app: App): Promise<void> {
    await this.startWith(app);
    await this.anotherOrder(2);
    if (this.announced().length > 0) this.wrong.push('a person was told of orders whose version is there');
  }

  /**
   * While a version is missing, its orders are blocked and new orders get the old one; once it is back, all orders
   * continue.
   */
  async goBack(without: App, withIt: App): Promise<void> {
    await this.startWith(without);
    await this.anotherOrder(1);
    const open = async () =>
      (await this.orders()).filter(({ state }) => state.workflow.version === 2 && state.processState !== 'Processed');
    for (let waitedMs = 0; waitedMs < withoutMs; waitedMs += lookSeldomMs) {
      if ((await open()).every(({ state }) => state.fault?.type === 'RecordUnreadable')) break;
      await this.place.pass(lookSeldomMs);
    }
    const standing = await open();
    for (const { state } of standing) await this.checkStanding(state);
    await this.startWith(withIt);
    for (const { state } of standing)
      if (state.processState === 'Error' && state.fault?.type === 'RecordUnreadable') {
        this.stood += 1;
        const answer = await this.instruct(state.orderId, { kind: 'resubmit' });
        // A refused order repeats its question in the same step.
        if (/waits for an answer/.test(answer ?? '')) await this.instruct(state.orderId, { kind: 'resubmit', answer: { yes: true } });
        else if (answer !== 'done') this.wrong.push(`with its version back it cannot be resubmitted: ${answer}`);
      }
  }

  private async checkStanding({ orderId, processState, fault }: StateRecord): Promise<void> {
    if (processState !== 'Error') return void this.wrong.push(`it is ${processState}, and nobody knows that its version is gone`);
    if (!gone.test(fault?.message ?? ''))
      return void this.wrong.push(`it is in Error for something else: ${fault?.type} ${fault?.message}`);
    if (!this.announced().includes(orderId)) this.wrong.push('nobody was told');
    const answer = await this.instruct(orderId, { kind: 'resubmit' });
    if (!/is not part of this app/.test(answer ?? '')) this.wrong.push(`without its version it was resubmitted: ${answer}`);
  }

  private announced(): readonly string[] {
    return this.place
      .announced()
      .filter(({ detailType, detail }) => detailType === 'Order In Error' && detail['type'] === 'RecordUnreadable')
      .map(({ detail }) => String(detail['orderId']));
  }

  private async startWith(app: App): Promise<void> {
    this.place.crash();
    await this.place.start(app);
  }

  private async anotherOrder(version: number): Promise<void> {
    this.submit('another');
    await this.place.pass(lookEveryMs);
    const other = (await this.orders()).find(({ order }) => order.orderId === orderIdOf(client, 'another'));
    if (other?.order.workflow.version !== version)
      this.wrong.push(`a new order takes version ${other?.order.workflow.version}, not ${version}`);
  }

  /** All orders must have ended. */
  async ending({ effects }: Services): Promise<Ending> {
    const orders = await this.orders();
    for (const { order, state } of orders)
      if (state.processState !== 'Processed')
        this.wrong.push(
          `${order.workflow.name}@${order.workflow.version} is ${state.processState} (${state.fault?.type} ${state.fault?.message})`,
        );
    const main = orders.find(({ order }) => order.orderId === mainId);
    const called = orders.filter(({ order }) => order.caller?.orderId === mainId).map(({ order }) => order.orderId);
    const its = [mainId, ...called];
    return {
      outcome: main?.state.outcome ?? null,
      workflow: `${main?.order.workflow.name}@${main?.order.workflow.version}`,
      effects: effects.filter((effect) => its.some((id) => effect.includes(` ${id}/`))).toSorted(),
    };
  }
}
