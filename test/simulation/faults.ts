import type { Chance } from './random.ts';

/** What can go wrong at a call of a port. */
export const faultKinds = [
  'crash before',
  'crash applied',
  'crash after',
  'throttled',
  'answer lost',
  'written twice',
  'not taken',
  'index late',
  'index ghost',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What can go wrong without anybody having called anything. */
export const otherFaults = [
  'message twice',
  'message late',
  'message lost',
  'acknowledgement lost',
  'clock jumps',
  'host stands still',
  'order held',
  'poison',
  'service refuses',
  'undo refused',
  'service fails',
  'service is down',
  'store is down',
  'publisher is down',
  'queue is closed',
  'service slow',
  'service answer lost',
] as const;
export type OtherFault = (typeof otherFaults)[number];

/** A place where a host waits for something outside of it. */
export interface Site {
  readonly name: string;
  /** Of those in the list, what can happen here beside a crash. */
  readonly faults: readonly Exclude<FaultKind, `crash ${string}`>[];
}

/** How much goes wrong in one run, chosen by its seed: some runs have much of one thing, some little of everything. */
export type Profile = { readonly [kind in FaultKind | OtherFault]: number };

export function profileFrom(chance: Chance): Profile {
  const much = 0.2 + chance.next() * 2;
  const often = (usual: number) => (chance.happens(0.3) ? 0 : usual * much * (0.2 + chance.next()));
  return {
    'crash before': often(0.01),
    'crash applied': often(0.015),
    'crash after': often(0.01),
    throttled: often(0.03),
    'answer lost': often(0.03),
    'written twice': often(0.03),
    'not taken': often(0.1),
    'index late': often(0.2),
    'index ghost': often(0.05),
    'message twice': often(0.15),
    'message late': often(0.1),
    'message lost': often(0.06),
    'acknowledgement lost': often(0.05),
    'clock jumps': often(0.5),
    'host stands still': often(0.05),
    'order held': often(0.1),
    poison: often(0.02),
    'service refuses': often(0.12),
    'undo refused': often(0.1),
    'service fails': often(0.2),
    'service is down': often(0.03),
    'store is down': often(0.001),
    'publisher is down': often(0.1),
    'queue is closed': often(0.03),
    'service slow': often(0.08),
    'service answer lost': often(0.1),
  };
}

/** Faults as they are chosen and counted: what was meant to go wrong counts only where it did. */
export class Faults {
  /** From then on nothing goes wrong any more. */
  over = false;
  /** `crash applied @ store.update` -> how often. */
  readonly landed = new Map<string, number>();
  private readonly outages = new Map<string, number>();
  private readonly profile: Profile;
  private readonly chance: Chance;

  constructor(profile: Profile, chance: Chance) {
    this.profile = profile;
    this.chance = chance;
  }

  /** What goes wrong this time, if anything. */
  at(site: Site): FaultKind | undefined {
    if (this.over) return undefined;
    const kinds: readonly FaultKind[] = ['crash before', 'crash applied', 'crash after', ...site.faults];
    return kinds.find((kind) => this.hits(kind, site.name));
  }

  hits(kind: FaultKind | OtherFault, site: string): boolean {
    if (this.over || !this.chance.happens(this.profile[kind])) return false;
    const cell = `${kind} @ ${site}`;
    this.landed.set(cell, (this.landed.get(cell) ?? 0) + 1);
    return true;
  }

  /** Whether nothing there answers at all: it begins by chance, and lasts for a while. */
  isDown(kind: OtherFault, site: string, now: number): boolean {
    const place = `${kind} @ ${site}`;
    if (this.hits(kind, site)) this.outages.set(place, now + this.chance.between(2000, 60_000));
    return !this.over && (this.outages.get(place) ?? 0) > now;
  }
}
