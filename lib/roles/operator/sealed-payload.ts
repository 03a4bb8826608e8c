import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { withReplaced } from '#core/definition/sealed';
import { mask, secretPointers } from '#core/definition/secrets';
import type { Judged } from '#core/instructions/kind';
import type { Keys } from '#ports/keys';
import { secretOutputAt } from '#roles/scheduler/redaction';
import { markedIn } from '#roles/secrets/marked';
import type { OrderKey } from '#roles/secrets/order-key';
import { sealed, withSecretsSealed } from '#roles/secrets/sealing';
import type { Given } from './instruction.ts';

type Order = Pick<Judged, 'program' | 'state' | 'schemas' | 'programs'>;

/** Whether an instruction of this kind brings values that may hold secrets. */
export const bringsValues = ({ kind }: Given): boolean =>
  kind === 'signal' || kind === 'resubmit' || kind === 'skip' || kind === 'replace-input' || kind === 'restart';

/** Encrypts the secret fields of the values that an instruction brings. The values were validated before. */
export function withPayloadSealed(order: Order, given: Given, key: OrderKey, keys: Keys): Given {
  const { program } = order;
  const random = (bytes: number) => keys.random(bytes);
  if (given.kind === 'signal') {
    const { name, payload } = given;
    return { ...given, payload: withSecretsSealed(payload, pointersOf(program, name), key, random, `signal/${name}#`) };
  }
  if (given.kind === 'restart') return restartSealed(order, given, (secret, at) => sealed(secret, at, key, random));
  if (given.kind === 'resubmit' && given.answer !== undefined)
    return { ...given, answer: withSecretsSealed(given.answer, pointersOf(program), key, random, 'answer#') };
  const path = ('path' in given ? given.path : undefined) ?? order.state.blocked?.path;
  if (path === undefined) return given;
  if (given.kind === 'skip' && given.output !== undefined)
    return { ...given, output: withSecretsSealed(given.output, secretOutputAt(program, path), key, random, `${path}#`) };
  if (given.kind !== 'replace-input') return given;
  // A mask means that the secret stays as it is: the present secret of the step takes its place later.
  const seal = (secret: Json, pointer: string): Json => (secret === mask ? mask : sealed(secret, `${path}#input${pointer}`, key, random));
  return { ...given, input: withReplaced(given.input, secretInputAt(order, path), seal) };
}

type Restarting = Extract<Given, { kind: 'restart' }>;

/** Encrypts the secrets in the body of the order that a restart creates. The present order's secret takes the place of a mask later. */
function restartSealed({ program, programs }: Order, given: Restarting, seal: (secret: Json, at: string) => Json): Restarting {
  const { order: body, version } = given;
  const { name } = program.definition;
  const target = version === undefined ? program : programs(name, version);
  if (body === undefined || !target) return given;
  const order = withReplaced(body, markedIn(target).ofOrder, (secret, at) => (secret === mask ? mask : seal(secret, `restart#${at}`)));
  return { ...given, order };
}

function secretInputAt({ program, schemas }: Order, path: string): readonly string[] {
  const node = nodeAt(program, path);
  return isRemote(node) ? secretPointers(schemas.of(node.agent, node.operation)?.input) : [];
}

/** Returns the secret fields of a signal's payload, in any `waitFor` of the workflow; without a signal, those of an answer to any question. */
function pointersOf({ nodes }: Program, signal?: string): readonly string[] {
  const found = [...nodes.values()].flatMap((node) => {
    if (signal === undefined) return node.activity === 'askOperator' ? secretPointers(node.answer) : [];
    return node.activity === 'waitFor' && node.signal === signal ? secretPointers(node.payload) : [];
  });
  return [...new Set(found)];
}
