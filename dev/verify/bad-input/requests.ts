import * as fc from 'fast-check';
import { defects } from './defects.ts';
import { type Operation, sampleOf } from './document.ts';
import { type Draft, type Draw, oneOf, rightDraft, type Surroundings } from './draft.ts';
import type { Sent } from './http.ts';

/** A request with at least one defect, and the codes with which it may be refused. */
export interface BadRequest extends Sent {
  readonly operation: Operation;
  readonly kinds: readonly string[];
  readonly codes: readonly string[];
}

interface Portion {
  readonly count: number;
  readonly seed: number;
}

const kinds = Object.keys(defects);
/** The largest number of further defects in one request. */
const moreMax = 2;
/** The largest number of calls that are tried for one kind of defect. Many calls have no place for that kind. */
const triesMax = 20;

/** Makes bad requests for every call of the contract, the same for the same seed. */
export function badRequests(operations: readonly Operation[], around: Surroundings, { count, seed }: Portion): readonly BadRequest[] {
  let number = 0;
  const one = fc.gen().map((generate): BadRequest => {
    const draw: Draw = (arbitrary) => generate(() => arbitrary);
    const newDraft = (): Draft => {
      const operation = oneOf(draw, operations);
      return rightDraft(operation, around, operation.body && sampleOf(operation.body), ++number);
    };
    for (;;) {
      const first = oneOf(draw, kinds);
      for (let tries = 0; tries < triesMax; tries++) {
        const draft = newDraft();
        const codes = defects[first]?.(draft, draw, around);
        if (codes) return withMore(draft, draw, around, [{ kind: first, codes }]);
      }
    }
  });
  return fc.sample(one, { numRuns: count, seed });
}

interface Found {
  readonly kind: string;
  readonly codes: readonly string[];
}

/** Adds further defects in half of the requests. */
function withMore(draft: Draft, draw: Draw, around: Surroundings, first: readonly Found[]): BadRequest {
  const more = draw(fc.boolean()) ? [] : Array.from({ length: draw(fc.integer({ min: 1, max: moreMax })) }, () => oneOf(draw, kinds));
  const added = more.flatMap((kind) => {
    const codes = defects[kind]?.(draft, draw, around);
    return codes ? [{ kind, codes }] : [];
  });
  const all = [...first, ...added];
  return { operation: draft.operation, kinds: all.map(({ kind }) => kind), codes: all.flatMap(({ codes }) => codes), ...sentOf(draft) };
}

function sentOf({ operation, method, path, query, headers, body, bytes }: Draft): Sent {
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  return {
    method,
    target: search === '' ? path : `${path}?${search}`,
    headers,
    body: operation.body ? (bytes ?? Buffer.from(JSON.stringify(body))) : undefined,
  };
}
