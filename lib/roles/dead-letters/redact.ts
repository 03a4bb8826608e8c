import { isDeepStrictEqual } from 'node:util';
import { definitionPath } from '#core/data/ids';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { withoutSealed } from '#core/definition/sealed';
import { mask, masked, secretPointers, withoutTexts } from '#core/definition/secrets';
import type { Definitions } from '#ports/definitions';
import { agentOfReplies, ConsumerMessage, consumerOf, queueNames, SubmissionMessage } from '#ports/messages';
import { secretInputOf, secretOutputAt, secretsOf } from '#roles/scheduler/redaction';
import type { Loaded } from '#roles/scheduler/types';
import { pointerOf, type SubmissionProblem } from '#roles/submission/submission';
import type { DeadLetter } from './dead-letter.ts';
import { bodySchemaOf, inputSchemaOf } from './schemas.ts';
import { bodyPointer } from './validate.ts';

interface RedactionContext {
  readonly definitions: Definitions;
  readonly defaultWorkflow: string;
  /** The order that the message names, where it can be read. */
  readonly loaded: Loaded | undefined;
}

/** Returns a body for operators, without the secrets of its workflow, operation or order. */
export function redactedBody(queue: string, body: Json, known: RedactionContext): Json {
  // A message is an object. Any other value may hold a message as text, where nobody knows which fields are secret.
  return isObject(body) ? redacted(masked(body, secretsIn(queue, body as JsonObject, known)), known.loaded) : mask;
}

/** Describes a message that is not JSON, without any of its text: nobody knows which fields of it are secret. */
export function unreadableText({ body, cut, erased }: Pick<DeadLetter, 'body' | 'cut' | 'erased'>): string {
  if (erased) return 'The text of this message was erased with the secrets of its order.';
  const bytes = cut?.bytes ?? Buffer.byteLength(body);
  return `This message of ${bytes} bytes is not JSON: ${cut ? 'only its beginning is kept' : placeOfError(body)}. Its text is hidden, because nobody knows which fields of it are secret.`;
}

/** Returns the place of the first error. The message of the parser quotes the text, so only its position is used. */
function placeOfError(text: string): string {
  try {
    JSON.parse(text);
    return 'it changed';
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    return position === undefined ? 'it is cut off, or not JSON from its beginning' : `the error is at character ${position}`;
  }
}

/** Returns a value without texts that repeat a secret of the order. */
export const redacted = <T extends Json>(value: T, loaded: Loaded | undefined): T =>
  withoutSealed(loaded ? withoutTexts(value, secretsOf(loaded)) : value);

/** Returns pointers to the secret fields. If the schema is unknown, all data fields count as secret. */
function secretsIn(queue: string, body: JsonObject, { definitions, defaultWorkflow, loaded }: RedactionContext): readonly string[] {
  if (queue === queueNames.submissions) {
    const schema = definitions.newest(String(body['workflow'] ?? defaultWorkflow))?.definition.order;
    // An order that is not an object, or a field of another name, may hold the whole order.
    return [...within('/order', isObject(body['order']) ? schema : undefined), ...unknownFieldsOf(body, SubmissionMessage)];
  }
  if (consumerOf(queue) !== undefined)
    return [...within('/body', bodySchemaOf(queue, String(body['type']), definitions)), ...unknownFieldsOf(body, ConsumerMessage)];
  if (queue === queueNames.wakeUps) return [];
  const path = String(body['path']);
  const program = loaded?.program.nodes.has(definitionPath(path)) ? loaded.program : undefined;
  if (agentOfReplies(queue) !== undefined)
    return program ? secretOutputAt(program, path).map((each) => `/result/output${each}`) : ['/result'];
  if (!program) return ['/input'];
  const operation = String(body['operation']);
  const schema = inputSchemaOf(queue, operation, definitions);
  const node = nodeAt(program, path);
  const secretInputs = isRemote(node) ? secretInputOf(program, node.input).map((each) => `/input${each}`) : [];
  return [...(operation === 'undo' && queue === queueNames.calls ? [] : within('/input', schema)), ...secretInputs];
}

const unknownFieldsOf = (body: JsonObject, { shape }: typeof SubmissionMessage | typeof ConsumerMessage): readonly string[] =>
  Object.keys(body)
    .filter((name) => !Object.hasOwn(shape, name))
    .map((name) => pointerOf([name]));

const within = (prefix: string, schema: JsonObject | undefined): readonly string[] =>
  schema ? secretPointers(schema).map((each) => prefix + each) : [prefix];

/**
 * Returns a body that an operator has edited, with its masks replaced by the original secrets. A mask in an edited text or list is
 * a problem, because its original is ambiguous.
 */
export function withSecrets(edited: Json, shown: Json, original: Json, place: readonly string[] = []): Restored {
  if (isDeepStrictEqual(edited, shown)) return { value: original, problems: [] };
  if (!isObject(edited) || !isObject(shown) || !isObject(original))
    return hasMask(edited) ? unknownSecret(edited, place) : { value: edited, problems: [] };
  const parts = Object.entries(edited).map(([name, entry]): [string, Restored] => {
    const before = [shown, original].map((each) => (Object.hasOwn(each, name) ? (each[name] as Json) : undefined));
    return [name, restoredField(entry as Json, before, [...place, name])];
  });
  return {
    value: Object.fromEntries(parts.map(([name, { value }]) => [name, value])),
    problems: parts.flatMap(([, { problems }]) => problems),
  };
}

interface Restored {
  readonly value: Json;
  readonly problems: readonly SubmissionProblem[];
}

function restoredField(entry: Json, [shown, original]: readonly (Json | undefined)[], place: readonly string[]): Restored {
  if (shown !== undefined && original !== undefined) return withSecrets(entry, shown, original, place);
  return hasMask(entry) ? unknownSecret(entry, place) : { value: entry, problems: [] };
}

const hasMask = (value: Json): boolean => JSON.stringify(value).includes(mask);

const unknownSecret = (value: Json, place: readonly string[]): Restored => ({
  value,
  problems: [
    {
      pointer: bodyPointer + pointerOf(place),
      code: 'masked',
      detail: `Expected a value, got the mask ${mask}. A mask can stay only in a field that is unchanged. Enter the value itself.`,
    },
  ],
});
