import { stepOfRequest } from '#core/data/ids';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import type { OperationSchemas } from '#core/definition/catalog';
import { isRemote } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { isSealed, sealedIn, sealedText } from '#core/definition/sealed';
import { mask, secretPointers, valuesAt, withoutTexts } from '#core/definition/secrets';
import type { StoredEntry } from '#roles/scheduler/instance';
import type { RecordedEvent } from '#roles/scheduler/recorded-events';
import { secretOutputAt } from '#roles/scheduler/redaction';
import { markedIn } from '#roles/secrets/marked';

/** The workflow of a case, and the schemas of its operations: they say which values of the case are secret. */
export interface Marks {
  readonly program: Program;
  readonly schemas: { readonly [operation: string]: OperationSchemas };
}

/** The parts of a case that may hold secrets. */
interface Content {
  readonly order: { readonly orderId: string; readonly body: Json };
  readonly journal: readonly StoredEntry[];
}

/**
 * Returns the content of a case with a placeholder for each secret. Equal secrets have equal placeholders, so that a replay passes them on
 * as the system did. A placeholder has the form of an encrypted secret, because the engine never looks into an encrypted secret.
 */
export function withoutSecrets<T extends JsonObject>(marks: Marks, content: T): T {
  const { order, journal } = content as unknown as Content;
  const plain = [
    ...valuesAt(order.body, markedIn(marks.program).ofOrder),
    ...journal.flatMap(({ event, further = [] }) =>
      [...(event ? [event] : []), ...further].flatMap((each) => secretsIn(marks, each, order)),
    ),
  ]
    .flatMap(leavesOf)
    .filter((value) => !isSealed(value) && value !== mask);
  const placeholders = new Placeholders(plain);
  return placeholders.within(content) as T;
}

/** Returns the texts and numbers in a secret value. */
function leavesOf(value: Json): readonly (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap((entry) => leavesOf(entry as Json)) : [];
}

/** Returns the secret values that came with an event. */
function secretsIn({ program, schemas }: Marks, event: RecordedEvent, { orderId }: Content['order']): readonly Json[] {
  switch (event.type) {
    case 'replied': {
      const path = stepOfRequest(orderId, event.requestId);
      return event.reply.status === 'succeeded' && path !== undefined ? valuesAt(event.reply.output, secretOutputAt(program, path)) : [];
    }
    case 'signaled':
      return valuesAt(
        event.payload,
        marksOf(program, (node) => (node.activity === 'waitFor' && node.signal === event.name ? node.payload : undefined)),
      );
    case 'resubmitted':
      return event.answer === undefined ? [] : valuesAt(event.answer, answersOf(program));
    case 'instructed': {
      const { instruction } = event;
      if (instruction.kind === 'skip' && instruction.output !== undefined && instruction.path !== undefined)
        return valuesAt(instruction.output, secretOutputAt(program, instruction.path));
      if (instruction.kind !== 'replace-input') return [];
      const inputs = marksOf(program, (node) => (isRemote(node) ? schemas[`${node.agent}.${node.operation}`]?.input : undefined));
      return valuesAt(instruction.input, inputs);
    }
    default:
      return [];
  }
}

type Node = Program['nodes'] extends ReadonlyMap<string, infer N> ? N : never;

const marksOf = ({ nodes }: Program, schemaOf: (node: Node) => JsonObject | undefined): readonly string[] => [
  ...new Set([...nodes.values()].flatMap((node) => secretPointers(schemaOf(node)))),
];

const answersOf = (program: Program): readonly string[] =>
  marksOf(program, (node) => (node.activity === 'askOperator' ? node.answer : undefined));

/** Shorter secrets are not searched for within other texts, such as those of the journal. */
const charactersMin = 4;

/** The placeholders of one case, numbered as they come up. */
class Placeholders {
  private readonly known = new Map<Json, string>();
  private readonly plain: ReadonlySet<Json>;
  private readonly texts: readonly string[];

  constructor(plain: readonly Json[]) {
    this.plain = new Set(plain.filter((value) => typeof value === 'string' || String(value).length >= charactersMin));
    this.texts = [...this.plain].map(String).filter((text) => text.length >= charactersMin);
  }

  within(value: Json): Json {
    if (this.plain.has(value) || isSealed(value)) return this.of(value);
    if (typeof value === 'string') return withoutTexts(value, this.texts);
    if (Array.isArray(value)) return value.map((entry) => this.within(entry));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [withoutTexts(key, this.texts), this.within(entry as Json)]));
  }

  /** Returns the placeholder of a secret. It is as long as the encrypted secret, because sizes may decide what an order does. */
  private of(value: Json): string {
    const { content = '', origin = 'case' } = sealedIn(value) ?? {};
    const known =
      this.known.get(value) ?? sealedText({ content: `secret-${this.known.size + 1}-`.padEnd(Math.max(content.length, 38), '0'), origin });
    this.known.set(value, known);
    return known;
  }
}

/** Returns a journal line without the keys of API calls: a key holds a hash of the call's body. */
export function withoutCallKeys(line: StoredEntry): StoredEntry {
  if (!line.also || !('keys' in line.also)) return line;
  const { keys: _, ...also } = line.also;
  const { also: __, ...rest } = line;
  return Object.keys(also).length === 0 ? rest : { ...rest, also };
}
