import { childIdOf, orderIdOf } from '#roles/submission/submission';
import { history } from './history.ts';
import { Mail } from './mail.ts';
import { type OpenPlace, type Place, responses } from './place.ts';
import type { Deed, Scenario } from './scenario.ts';
import { Services } from './services.ts';
import { shopOf } from './shop.ts';

const client = 'client';

/** Plays a scenario at a place and returns its history, line by line, the same at every place. */
export async function play(told: Scenario, open: OpenPlace): Promise<readonly string[]> {
  const services = new Services(told);
  const { workflows, variables } = told;
  const place = await open({ app: shopOf(workflows), variables, services, mail: new Mail(told), responses });
  try {
    const happened = await new Playing(told, place).run();
    return await history(place, services, happened);
  } finally {
    await place.close();
  }
}

class Playing {
  private readonly told: Scenario;
  private readonly place: Place;
  private readonly orderId: string;
  private readonly happened: string[] = [];
  private passed = 0;
  private calls = 0;

  constructor(told: Scenario, place: Place) {
    this.told = told;
    this.place = place;
    this.orderId = orderIdOf(client, told.title);
  }

  /** Answers to the actions of people. */
  async run(): Promise<readonly string[]> {
    const { order, events, lastsSeconds } = this.told;
    await this.to(0.1);
    await this.do({ what: 'submit', again: false, order });
    for (const { atSeconds, deed } of events.toSorted((one, other) => one.atSeconds - other.atSeconds)) {
      await this.to(atSeconds);
      await this.do(deed);
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

  private async do(deed: Deed): Promise<void> {
    switch (deed.what) {
      case 'crash':
        this.place.crash();
        await this.to(this.passed / 1000 + 1);
        return this.place.start();
      case 'post':
        return this.meanwhile(this.place.send(deed.queue, deed.body));
      case 'submit':
        return this.answered(deed.again ? 'submitted again' : 'submitted', this.submit(deed));
      case 'instruct':
        return this.answered(deed.decision.kind, this.instruct(deed));
    }
  }

  private async submit({ order }: Extract<Deed, { what: 'submit' }>): Promise<string> {
    const submission = { client, idempotencyKey: this.told.title, order, responseChannel: responses };
    const submitted = await this.place.system.submit(submission);
    return submitted.outcome === 'accepted' && submitted.order.orderId !== this.orderId ? 'another order' : submitted.outcome;
  }

  private async instruct({ decision, of }: Extract<Deed, { what: 'instruct' }>): Promise<string> {
    const orderId = of === undefined ? this.orderId : childIdOf(`${this.orderId}/${of}/1`);
    const instructed = await this.place.system.scheduler.instruct(orderId, decision, { id: `call-${++this.calls}` });
    return instructed.outcome === 'infeasible' ? `infeasible: ${instructed.reasons.join(' ')}` : instructed.outcome;
  }

  private async answered(what: string, call: Promise<string>): Promise<void> {
    await this.meanwhile(call.then((answer) => void this.happened.push(`${what}: ${answer}`)));
  }

  /** A caller that waits for an answer may need the time to advance. */
  private async meanwhile(work: Promise<void>): Promise<void> {
    let over = false;
    const end = work.finally(() => (over = true));
    for (let tries = 0; !over; tries++) {
      if (tries > 2000) throw new Error(`${this.told.title}: a call is not answered.`);
      this.passed += 10;
      await this.place.pass(10);
    }
    return end;
  }
}
