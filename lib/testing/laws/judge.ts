import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { lawsAfterRestore, lawsFor } from './index.ts';
import type { Law, Setting } from './law.ts';

type Kind = Observation['type'];

/** Judges a world by all laws, while its history grows. */
export class Judge {
  /** Violations, each with the name of its law. */
  readonly broken: string[] = [];
  private readonly history: History;
  private readonly setting: Setting;
  private laws: readonly Law[];
  private readonly lawsByKind = new Map<Kind, readonly Law[]>();

  constructor(history: History, setting: Setting) {
    this.history = history;
    this.setting = setting;
    this.laws = lawsFor(setting);
  }

  /** Adds an observation to the history. The laws judge a write after the history has recorded it, and every other observation before. */
  take(observation: Observation): void {
    if (observation.type !== 'written') this.judge(observation);
    this.history.record(observation);
    if (observation.type === 'written') this.judge(observation);
    if (observation.type === 'restored') this.replace(lawsAfterRestore(this.laws, observation.hasOldProcess));
  }

  /** Judges a history that has come to rest. */
  judgeEnd(): void {
    for (const law of this.laws) for (const wrong of law.atEnd?.(this.history) ?? []) this.broken.push(`${law.name}: ${wrong}`);
  }

  /** Starts with new laws: they remember nothing. */
  forget(): void {
    this.replace(lawsFor(this.setting));
  }

  private replace(laws: readonly Law[]): void {
    this.laws = laws;
    this.lawsByKind.clear();
  }

  private judge(observation: Observation): void {
    for (const { name, after } of this.lawsOn(observation.type)) {
      const wrong = after?.wrongWith(observation, this.history);
      if (wrong !== undefined) this.broken.push(`${name}: ${wrong}`);
    }
  }

  private lawsOn(kind: Kind): readonly Law[] {
    const known = this.lawsByKind.get(kind);
    if (known) return known;
    const found = this.laws.filter(({ after }) => after && (after.kinds?.includes(kind) ?? true));
    this.lawsByKind.set(kind, found);
    return found;
  }
}
