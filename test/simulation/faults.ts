import { type Role, roleAtWork } from './at-work.ts';
import type { Chance } from './random.ts';
import type { Stricter } from './stricter.ts';

/** Faults at a call of a port. */
export const faultKinds = [
  'crash before',
  'crash applied',
  'crash after',
  'throttled',
  'transaction conflict',
  'answer lost',
  'written twice',
  'not taken',
  'index late',
  'index never',
  'index ghost',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Faults that need no call. */
export const otherFaults = [
  'message twice',
  'message late',
  'message lost',
  'queue purged',
  'old message again',
  'acknowledgement lost',
  'batch comes again',
  'time runs out',
  'clock jumps',
  'host stands still',
  'supervisors gone',
  'record damaged',
  'older process',
  'order held',
  'poison',
  'service refuses',
  'undo refused',
  'service fails',
  'service is down',
  'store is down',
  'throttled for long',
  'publisher is down',
  'publisher gone for a day',
  'queue is closed',
  'client queue gone',
  'service slow',
  'service answer lost',
  'stricter schema',
  'edited definition',
] as const;
export type OtherFault = (typeof otherFaults)[number];
export type AnyFault = FaultKind | OtherFault;

/** The only exception that a simulated port throws for an outage. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** A place where a host waits for a port or a service. */
export interface Site {
  readonly name: string;
  /** The faults that are possible here, besides a crash. */
  readonly faults: readonly Exclude<FaultKind, `crash ${string}`>[];
}

/** The probability of each fault in one run. The seed chooses it: some runs have many faults of one kind, others few of each. */
export type Profile = { readonly [kind in AnyFault]: number };

/** The probability of each fault at each opportunity, in an average run. */
const usual: Omit<Profile, 'stricter schema' | 'edited definition'> = {
  'crash before': 0.01,
  'crash applied': 0.015,
  'crash after': 0.01,
  throttled: 0.03,
  'transaction conflict': 0.1,
  'answer lost': 0.03,
  'written twice': 0.03,
  'not taken': 0.1,
  'index late': 0.2,
  'index never': 0.005,
  'index ghost': 0.01,
  'message twice': 0.15,
  'message late': 0.1,
  'message lost': 0.06,
  'queue purged': 0.02,
  'old message again': 0.1,
  'acknowledgement lost': 0.05,
  'batch comes again': 0.03,
  'time runs out': 0.02,
  'clock jumps': 0.2,
  'host stands still': 0.05,
  'supervisors gone': 0.01,
  // The world as a whole decides whether a deployment is in progress.
  'older process': 0,
  'record damaged': 0.02,
  'order held': 0.1,
  poison: 0.02,
  'service refuses': 0.12,
  'undo refused': 0.1,
  'service fails': 0.2,
  'service is down': 0.03,
  'store is down': 0.002,
  'throttled for long': 0.002,
  'publisher is down': 0.1,
  'publisher gone for a day': 0.02,
  'queue is closed': 0.03,
  'client queue gone': 0.02,
  'service slow': 0.08,
  'service answer lost': 0.1,
};

/** Faults that affect everything else: only this share of the runs has them at all. */
const rare: { readonly [kind: string]: number } = {
  'client queue gone': 0.1,
  'record damaged': 0.25,
  'publisher gone for a day': 0.1,
  'supervisors gone': 0.3,
  'throttled for long': 0.3,
  'index never': 0.3,
};

export function profileFrom(chance: Chance): Profile {
  const much = 0.2 + chance.next() * 2;
  const often = (least: number) => (chance.happens(0.3) ? 0 : least * much * (0.2 + chance.next()));
  const chosen = Object.entries(usual).map(([kind, least]) => [kind, chance.happens(rare[kind] ?? 1) ? often(least) : 0]);
  // The world as a whole decides these. Drawing from `chance` here would change all existing seeds.
  return Object.fromEntries([...chosen, ['stricter schema', 0], ['edited definition', 0]]) as Profile;
}

/** The role and the order that a fault hit. The default role is the one at work; not every fault has an order. */
export interface Victim {
  readonly role?: Role | undefined;
  readonly orderId?: string | undefined;
}

/** One kind of fault, at one place, for one role and one state of the order. */
export interface Cell {
  readonly kind: string;
  readonly site: string;
  readonly role: Role | 'nobody';
  readonly state: string;
}

export const cellOf = (key: string): Cell => {
  const [kind = '', site = '', role = '', state = ''] = key.split('|');
  return { kind, site, role: role as Cell['role'], state };
};

/** Chooses and counts faults; a chosen fault counts only if it really hit. */
export class Faults {
  /** Whether faults are over: none happens any more. */
  over = false;
  /** During a calm phase, the only faults that may happen. */
  calm: ReadonlySet<AnyFault> | undefined;
  /** The number of hits by cell; `cellOf` parses the key. */
  readonly landed = new Map<string, number>();
  /** Work that crashes its process each time, until faults are over. */
  deadly: ((victim: Victim) => boolean) | undefined;
  /** Whether the deployed schema refuses a request; undefined if the schema never changes. */
  stricter: Stricter | undefined;
  private readonly outages = new Map<string, number>();
  private readonly profile: Profile;
  private readonly chance: Chance;
  private readonly stateOf: (orderId: string) => string;

  constructor(profile: Profile, chance: Chance, stateOf: (orderId: string) => string) {
    this.profile = profile;
    this.chance = chance;
    this.stateOf = stateOf;
  }

  /** Returns the fault of this call, if any. */
  at(site: Site, victim: () => Victim): FaultKind | undefined {
    if (this.over || this.calm) return undefined;
    if (this.deadly?.(victim())) {
      this.lands('crash before', site.name, victim());
      return 'crash before';
    }
    return crashes.find((kind) => this.hits(kind, site.name, victim)) ?? site.faults.find((kind) => this.hits(kind, site.name, victim));
  }

  hits(kind: AnyFault, site: string, victim: () => Victim = nobodySpecial): boolean {
    if (!this.chooses(kind)) return false;
    this.lands(kind, site, victim());
    return true;
  }

  /** Draws whether the fault happens, without counting it: it may turn out to have no victim. */
  chooses(kind: AnyFault): boolean {
    return this.mayHappen(kind) && this.chance.happens(this.profile[kind]);
  }

  /** Whether the fault may happen in this world now. */
  mayHappen(kind: AnyFault): boolean {
    return !this.over && this.calm?.has(kind) !== false && this.profile[kind] > 0;
  }

  lands(kind: AnyFault, site: string, { role = roleAtWork(), orderId }: Victim): void {
    const cell = `${kind}|${site}|${role ?? 'nobody'}|${orderId === undefined ? 'none' : this.stateOf(orderId)}`;
    this.landed.set(cell, (this.landed.get(cell) ?? 0) + 1);
  }

  /** Whether the whole place is down: an outage starts at random, and lasts for a while. */
  isDown(kind: AnyFault, site: string, { now, victim = nobodySpecial, lastsMs = [2000, 60_000] }: Outage): boolean {
    if (this.over || this.calm) return false;
    const place = `${kind} @ ${site}`;
    if (this.chooses(kind)) this.outages.set(place, now + this.chance.between(...lastsMs));
    if ((this.outages.get(place) ?? 0) <= now) return false;
    this.lands(kind, site, victim());
    return true;
  }
}

interface Outage {
  readonly now: number;
  readonly victim?: () => Victim;
  /** The shortest and the longest duration of an outage. */
  readonly lastsMs?: readonly [number, number];
}

const crashes = ['crash before', 'crash applied', 'crash after'] as const;
const nobodySpecial = (): Victim => ({});
