import type { Program } from '#core/definition/program';
import { secretPointers } from '#core/definition/secrets';
import type { Keys } from '#ports/keys';
import type { OrderKey } from '#roles/secrets/order-key';
import { withSecretsSealed } from '#roles/secrets/sealing';
import type { Decision } from './instruction.ts';

/** Encrypts the secret fields of a signal's payload or of an answer. They have been checked before. */
export function withPayloadSealed(program: Program, decision: Decision, key: OrderKey, keys: Keys): Decision {
  const random = (bytes: number) => keys.random(bytes);
  if (decision.kind === 'signal') {
    const { name, payload } = decision;
    return { ...decision, payload: withSecretsSealed(payload, pointersOf(program, name), key, random, `signal/${name}#`) };
  }
  if (decision.kind !== 'resubmit' || decision.answer === undefined) return decision;
  return { ...decision, answer: withSecretsSealed(decision.answer, pointersOf(program), key, random, 'answer#') };
}

/** Returns the secret fields that any activity marks that takes the signal, or any question without a name. */
function pointersOf({ nodes }: Program, signal?: string): readonly string[] {
  const found = [...nodes.values()].flatMap((node) => {
    if (signal === undefined) return node.activity === 'askOperator' ? secretPointers(node.answer) : [];
    return node.activity === 'waitFor' && node.signal === signal ? secretPointers(node.payload) : [];
  });
  return [...new Set(found)];
}
