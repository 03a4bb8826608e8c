import { type Call, PermanentFailure, TransientFailure } from 'redress';
import { limits } from '#core/definition/definition';
import type { Clock } from '#ports/clock';
import type { Answer, Scenario } from './scenario.ts';
import { type Remote, refusals } from './shop.ts';

/** The remote services of one scenario, with their effects: they survive a crash of the host. */
export class Services {
  /** The effects in their order: `bank.charge ord_…/order/charge/1`, with ` of edition 2` if the request says so. */
  readonly effects: string[] = [];
  private readonly done = new Set<string>();
  private readonly asked = new Map<string, number>();
  private readonly answers: Scenario['answers'];

  constructor({ answers }: Pick<Scenario, 'answers'>) {
    this.answers = answers;
  }

  /** The services as one host reaches them: answers under way at its crash are lost. */
  remoteFor(clock: Pick<Clock, 'sleep'>): Remote {
    return {
      asked: async (operation, input, call) => {
        const answer = this.answerTo(call.path);
        const known = this.done.has(call.idempotencyKey);
        if ((answer.does || known) && !this.isRepeated(operation, call))
          this.effect(operation, call, (input as { readonly edition?: number }).edition);
        await clock.sleep(afterMs(call.path, answer));
        return known && answer.says !== 'nothing' ? { id: call.idempotencyKey } : says(operation, answer, call);
      },
      looked: async (_, key) => {
        await clock.sleep(500);
        return this.done.has(key) ? { id: key } : undefined;
      },
    };
  }

  private answerTo(path: string): Answer {
    const nth = this.asked.get(path) ?? 0;
    this.asked.set(path, nth + 1);
    return this.answers[path]?.[nth] ?? { does: true, says: 'done' };
  }

  /** A repeated key has no second effect, if the service keeps keys. */
  private isRepeated(operation: string, { idempotencyKey }: Call<string>): boolean {
    return this.done.has(idempotencyKey) && !operation.startsWith('ledger.');
  }

  private effect(operation: string, { idempotencyKey }: Call<string>, edition: number | undefined): void {
    this.done.add(idempotencyKey);
    this.effects.push(`${operation} ${idempotencyKey}${edition === undefined ? '' : ` of edition ${edition}`}`);
  }
}

/** About a second, and different for any two steps that run side by side. */
const afterMs = (path: string, { afterSeconds }: Answer): number => {
  if (afterSeconds !== undefined) return afterSeconds * 1000;
  let sum = 0;
  for (const character of path) sum = (sum * 7 + character.charCodeAt(0)) % 1009;
  return 1000 + (sum % 16) * 60;
};

async function says(operation: string, { says: said }: Answer, call: Call<string>): Promise<unknown> {
  const { idempotencyKey: id } = call;
  switch (said) {
    case 'done':
      return { id };
    case 'refusal':
      return call.failed(refusals[operation as keyof typeof refusals], 'No.');
    case 'failure':
      throw new TransientFailure('Not now.');
    case 'permanent failure':
      throw new PermanentFailure('TooLate', 'It is too late for that.');
    case 'nothing':
      return new Promise(() => {});
    case 'nonsense':
      return { nonsense: true };
    case 'large':
      return { id, note: 'x'.repeat(limits.stateBytesMax) };
  }
}
