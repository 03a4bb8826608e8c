import { randomUUID } from 'node:crypto';
import type * as z from 'zod';

/** A response. The body is text, so that it can be repeated byte for byte. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

export const answer = (status: number, body?: object): Answer => ({ status, body: body ? JSON.stringify(body) : '' });
export const refusal = (status: number, code: string, data: object = {}): Answer => answer(status, { code, ...data });

/** The result of a POST: an answer, and an effect unless the service refused. */
export interface Decision {
  readonly answer: Answer;
  readonly effect?: { readonly id: string; readonly orderId: string; readonly kind: string; readonly undoRefusal: Answer | undefined };
}

/** One service: a collection of things, each with its own undo, if any. */
export interface Service {
  readonly collection: string;
  readonly undoneBy: 'delete' | 'refund' | undefined;
  decide(body: unknown): Decision;
}

interface Rules<Body extends { readonly orderId: string }> {
  readonly collection: string;
  readonly body: z.ZodType<Body>;
  readonly idPrefix: string;
  readonly createdStatus?: 201 | 202;
  readonly undoneBy?: 'delete' | 'refund';
  /** Returns the thing as its caller receives it. */
  created(id: string): object;
  /** Returns the kind under which the effect is listed. */
  kind(body: Body): string;
  refuse?(body: Body): Answer | undefined;
  /** Returns the answer to a later undo that is not possible. */
  refuseUndo?(body: Body): Answer | undefined;
}

export const service = <Body extends { readonly orderId: string }>(rules: Rules<Body>): Service => ({
  collection: rules.collection,
  undoneBy: rules.undoneBy,
  decide(sent) {
    const { success, data: body } = rules.body.safeParse(sent);
    if (!success) return { answer: refusal(422, 'invalid-request') };
    const refused = rules.refuse?.(body);
    if (refused) return { answer: refused };

    const id = `${rules.idPrefix}_${randomUUID()}`;
    return {
      answer: answer(rules.createdStatus ?? 201, rules.created(id)),
      effect: { id, orderId: body.orderId, kind: rules.kind(body), undoRefusal: rules.refuseUndo?.(body) },
    };
  },
});
