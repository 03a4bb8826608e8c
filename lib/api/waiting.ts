import type { JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import type { StateHead } from '#ports/records';
import { compareAndSet } from '#ports/util/compare-and-set';
import type { Caller } from './authentication.ts';
import type { Call } from './route.ts';

/** API Gateway ends a call after 29 seconds. */
export const waitSecondsMax = 25;
/** Limits of waiting calls, so that they leave instances for all other calls: on AWS each one occupies an instance. */
export const waitersMax = { perCaller: 5, all: 20 } as const;

const pollMs = { first: 100, longest: 1_000 } as const;
/** A waiting call removes its place when it ends. After a crash, the place ends on its own this long after the end of the wait. */
const graceMs = 5_000;
const racesMax = 3;
const placesId = 'PLACES';

export interface Wait {
  readonly seconds: number;
  readonly isOver: (head: StateHead) => boolean;
}

/** Whether nothing more happens to an order without a person or a client. */
export const isAtRest = ({ processState }: Pick<StateHead, 'processState'>): boolean =>
  processState === 'Processed' || processState === 'Error';

/**
 * Waits until the order is as the caller expects, until the time is over, or until the process drains. Returns false without waiting if too
 * many calls wait already.
 */
export async function waitForOrder(api: Call['api'], caller: Caller, orderId: string, { seconds, isOver }: Wait): Promise<boolean> {
  const { store, clock, accepting = () => true } = api;
  const isMet = async (): Promise<boolean> => {
    const head = await store.head(orderId);
    return !head || isOver(head);
  };
  if (seconds === 0 || (await isMet())) return true;

  const end = clock.now() + seconds * 1000;
  const place = await takePlace(store, caller, clock.now(), end);
  if (!place) return false;
  try {
    for (let pauseMs: number = pollMs.first; clock.now() < end && accepting(); pauseMs = Math.min(2 * pauseMs, pollMs.longest)) {
      await clock.sleep(Math.min(pauseMs, end - clock.now()));
      if (await isMet()) break;
    }
  } finally {
    await leavePlace(store, place, clock.now());
  }
  return true;
}

/** One of the limited places for waiting calls, which a call takes while it waits. */
interface Place {
  readonly holder: string;
  /** The end of the place, in milliseconds since 1970. It tells the places of one holder apart. */
  readonly until: number;
}

async function takePlace(documents: Documents, caller: Caller, now: number, end: number): Promise<Place | undefined> {
  // A person and a client may have the same name.
  const holder = caller.client === undefined ? `person ${caller.subject}` : `client ${caller.client}`;
  const place = { holder, until: end + graceMs };
  const taken = await changePlaces(documents, now, (places) => {
    const isFull = places.length >= waitersMax.all || places.filter(({ holder }) => holder === place.holder).length >= waitersMax.perCaller;
    return isFull ? undefined : [...places, place];
  });
  return taken ? place : undefined;
}

const leavePlace = (documents: Documents, { holder, until }: Place, now: number): Promise<boolean> =>
  changePlaces(documents, now, (places) => {
    const index = places.findIndex((each) => each.holder === holder && each.until === until);
    return index < 0 ? undefined : places.toSpliced(index, 1);
  });

/** Changes the list of places. Returns false if there is no change, or after too many lost races. */
async function changePlaces(
  documents: Documents,
  now: number,
  change: (places: readonly Place[]) => readonly Place[] | undefined,
): Promise<boolean> {
  let current: Document | null | undefined = await documents.document(collections.waits, placesId);
  const changed = await compareAndSet(async () => {
    const before = ((current?.content['places'] ?? []) as unknown as readonly Place[]).filter(({ until }) => until > now);
    const places = change(before);
    if (!places) return false;
    const rev = current?.rev ?? 0;
    const content = { places } as unknown as JsonObject;
    const written = await documents.putDocument({ collection: collections.waits, id: placesId, rev: rev + 1, content }, rev);
    if (written.outcome === 'written') return true;
    current = written.current;
    return 'lost';
  }, racesMax);
  return changed === true;
}

/** Returns the seconds of `Prefer: wait=S` (RFC 7240), at most `waitSecondsMax`; undefined without a valid preference. */
export function preferredWait(prefer: string | undefined): number | undefined {
  const wait = prefer
    ?.split(',')
    .map((preference) => /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(;.*)?$/i.exec(preference)?.[1])
    .find((seconds) => seconds !== undefined);
  return wait === undefined ? undefined : Math.min(Number(wait), waitSecondsMax);
}

/** Header of an answer that honors the preference. */
export const preferenceApplied = (seconds: number): { readonly [name: string]: string } => ({ 'preference-applied': `wait=${seconds}` });
