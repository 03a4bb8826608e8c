import { childIdOf, orderIdOf } from '#roles/submission/submission';
import { history } from './history.ts';
import { Mail } from './mail.ts';
import { type OpenPlace, type Place, responses } from './place.ts';
import type { Action, Scenario } from './scenario.ts';
import { Services } from './services.ts';
import { shopOf } from './shop.ts';

const client = 'client';

/** Plays a scenario at a place and returns its history, line by line, the same at every place. */
export async function play(scenario: Scenario, open: OpenPlace): Promise<readonly string[]> {
  const services = new Services(scenario);
  const { workflows, variables } = scenario;
  const place = await open({ app: shopOf(workflows), variables, services, mail: new Mail(scenario), responses });
  try {
    const happened = await new Playing(scenario, place).run();
    return await history(place, services, happened);
  } finally {
    await place.close();
  }
}

class Playing {
  private readonly scenario: Scenario;
  private readonly place: Place;
  private readonly orderId: string;
  private readonly happened: string[] = [];
  private passed = 0;
  private calls = 0;

  constructor(scenario: Scenario, place: Place) {
    this.scenario = scenario;
    this.place = place;
    this.orderId = orderIdOf(client, scenario.title);
  }

  /** Answers to the actions of people. */
  async run(): Promise<readonly string[]> {
    const { order, events, lastsSeconds } = this.scenario;
    await this.to(0.1);
    await this.do({ what: 'submit', again: false, order });
    for (const { atSeconds, action } of events.toSorted((one, other) => one.atSeconds - other.atSeconds)) {
      await this.to(atSeconds);
      await this.do(action);
    }
    await this.to(lastsSeconds);
    return this.happened;
  }

  private async to(seconds: number): Promise<void> {
    const ms = seconds * 1000 - this.passed;
    if (ms <= 0) return;
    this.passed += ms;
    await this.place.pass(ms);
  }

  private async do(action: Action): Promise<void> {
    switch (action.what) {
      case 'crash':
        this.place.crash();
        await this.to(this.passed / 1000 + 1);
        return this.place.start();
      case 'post':
        return this.meanwhile(this.place.send(action.queue, action.body));
      case 'submit':
        return this.answered(action.again ? 'submitted again' : 'submitted', this.submit(action));
      case 'instruct':
        return this.answered(action.decision.kind, this.instruct(action));
    }
  }

  private async submit({ order }: Extract<Action, { what: 'submit' }>): Promise<string> {
    const submission = { client, idempotencyKey: this.scenario.title, order, responseChannel: responses };
    const submitted = await this.place.system.submit(submission);
    return submitted.outcome === 'accepted' && submitted.order.orderId !== this.orderId ? 'another order' : submitted.outcome;
  }

  private async instruct({ decision, of }: Extract<Action, { what: 'instruct' }>): Promise<string> {
    const orderId = of === undefined ? this.orderId : childIdOf(`${this.orderId}/${of}/1`);
    const instructed = await this.place.system.scheduler.instruct(orderId, decision, { id: `call-${++this.calls}` });
    return instructed.outcome === 'infeasible'
      ? `infeasible: ${instructed.refusals.map(({ detail }) => detail).join(' ')}`
      : instructed.outcome;
  }

  private async answered(what: string, call: Promise<string>): Promise<void> {
    await this.meanwhile(call.then((answer) => void this.happened.push(`${what}: ${answer}`)));
  }

  /** A caller that waits for an answer may need the time to advance. */
  private async meanwhile(work: Promise<void>): Promise<void> {
    let over = false;
    const end = work.finally(() => (over = true));
    for (let tries = 0; !over; tries++) {
      if (tries > 2000) throw new Error(`${this.scenario.title}: a call is not answered.`);
      this.passed += 10;
      await this.place.pass(10);
    }
    return end;
  }
}
