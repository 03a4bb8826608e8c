import type { Json, JsonObject } from '#core/data/json';

/** Quotes a word for a shell. */
export const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const flag = (name: string, value: Json | undefined): readonly string[] =>
  value === undefined || value === false
    ? []
    : value === true
      ? [`--${name}`]
      : [`--${name}`, quoted(typeof value === 'string' ? value : JSON.stringify(value))];
const data = (value: Json | undefined): readonly string[] => (value === undefined ? [] : ['--data', quoted(JSON.stringify(value))]);

type Given = JsonObject & { readonly kind: string };

/** The options of each kind at the command line. */
const options: { readonly [kind: string]: (given: Given) => readonly string[] } = {
  resubmit: (given) =>
    flag('complete-within', given['completeWithinSeconds'] === undefined ? undefined : String(given['completeWithinSeconds'])),
  skip: (given) => [...flag('path', given['path']), ...flag('effect', given['effect']), ...data(given['output'])],
  'replace-input': (given) => [...flag('path', given['path']), ...data(given['input'])],
  'resume-at': (given) => [...flag('path', given['path']), ...(given['undoBetween'] === false ? ['--no-undo'] : [])],
  compensate: (given) => flag('path', given['path']),
  recover: (given) => flag('path', given['path']),
  'retry-undo': (given) => flag('path', given['path']),
  'mark-compensated': (given) => flag('path', given['path']),
  restart: (given) => [
    ...data(given['order']),
    ...flag('version', given['version']),
    ...flag('undo-first', given['undoFirst']),
    ...flag('keep-effects', given['keepEffects']),
  ],
  handle: (given) => [...flag('workflow', given['workflow']), ...flag('version', given['version'])],
  migrate: (given) => flag('version', given['version']),
  amend: (given) => [
    ...flag('end-by', given['endBy']),
    ...flag('max-failures', given['maxFailures']),
    ...amendedRetry(given['retry'] as JsonObject | undefined),
    ...((given['handle'] as readonly JsonObject[] | undefined) ?? []).flatMap(({ fault, workflow }) => [
      '--handle',
      quoted(`${String(fault)}=${String(workflow)}`),
    ]),
    ...Object.entries((given['variables'] as JsonObject | undefined) ?? {}).flatMap(([name, value]) => [
      '--set',
      quoted(`${name}=${JSON.stringify(value)}`),
    ]),
  ],
};

const amendedRetry = (retry: JsonObject = {}): readonly string[] => [
  ...flag('path', retry['path']),
  ...flag('retries', retry['retries']),
  ...flag('interval', retry['intervalSeconds']),
];

/** Returns the command that gives an instruction. It holds what was typed, and never a token. */
export function commandOf(orderId: string, given: Given, reason: string): string {
  if (given.kind === 'resubmit' && given['answer'] !== undefined)
    return ['npx redress order answer', orderId, ...data(given['answer']), '--reason', quoted(reason || 'why')].join(' ');
  return [`npx redress order ${given.kind}`, orderId, ...(options[given.kind]?.(given) ?? []), '--reason', quoted(reason || 'why')].join(
    ' ',
  );
}

/** Returns the command that resolves a task with an instruction. */
export function taskCommandOf(taskId: string, { kind, ...fields }: Given, reason: string): string {
  const given = Object.keys(fields).length > 0 ? ['--fields', quoted(JSON.stringify(fields))] : [];
  return [`npx redress task resolve`, taskId, kind, ...given, '--reason', quoted(reason || 'why')].join(' ');
}

/** Returns the command that writes a rule. */
export const ruleCommandOf = (id: string, rule: unknown, reason: string): string =>
  `echo ${quoted(JSON.stringify(rule))} | npx redress rule put ${id} - --reason ${quoted(reason)}`;

interface HttpCall {
  readonly method?: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

/** Returns a call as a command of curl. The token is a variable of the shell. */
export function curlOf({ method = 'POST', path, headers = {}, body }: HttpCall): string {
  const lines = [
    `curl -X ${method} ${quoted(`${location.origin}${path}`)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}
