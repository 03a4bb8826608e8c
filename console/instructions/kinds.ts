import type { Json, JsonObject } from '#core/data/json';
import type { InstructionKind, Order, Workflow } from '../api/types.ts';
import { definitionPath, isUndo } from '../graph/look.ts';
import { parsed } from '../parts/json-text.ts';

/** What a person has typed into the form of an instruction. JSON values are texts until they are sent. */
export type Values = {
  readonly path: string;
  readonly output: string;
  readonly effect: string;
  readonly input: string;
  readonly undoBetween: string;
  readonly answer: string;
  readonly completeWithinSeconds: string;
  readonly endBy: string;
  readonly maxFailures: string;
  readonly retryPath: string;
  readonly retries: string;
  readonly intervalSeconds: string;
  readonly variables: string;
  readonly order: string;
  readonly version: string;
  readonly undoFirst: string;
  readonly keepEffects: boolean;
  readonly reason: string;
};

export type FieldName = Exclude<keyof Values, 'reason'>;

export interface Kind {
  readonly name: string;
  /** The effect in a few words. */
  readonly does: string;
  /** What the button says. */
  readonly verb: string;
  /** It cannot be taken back. */
  readonly harm?: true;
  /** The letter in the menu of actions. */
  readonly letter: string;
  readonly fields: readonly FieldName[];
  /** Returns why it makes no sense now; the check of the API decides. */
  readonly unfit?: (order: Order) => string | undefined;
}

const isBlocked = ({ processState }: Order): boolean => processState === 'Error';
const notBlocked = (order: Order): string | undefined => (isBlocked(order) ? undefined : 'only for an order in Error');
const whileUndone = (order: Order): string | undefined => (order.undo ? 'the order is being undone' : undefined);
const notUndone = ({ undo }: Order): string | undefined => (undo && undo.stuck.length > 0 ? undefined : 'no undo is stuck');

/** The kinds of instructions, the mildest first and harm last. */
export const kinds: { readonly [kind in InstructionKind]: Kind } = {
  resubmit: {
    name: 'Resubmit',
    does: 'requests the failed step again',
    verb: 'Request the step again',
    letter: 'r',
    fields: ['answer', 'completeWithinSeconds'],
    unfit: notBlocked,
  },
  'replace-input': {
    name: 'Replace the input',
    does: 'requests a step with another input',
    verb: 'Request with the new input',
    letter: 'i',
    fields: ['path', 'input'],
    unfit: whileUndone,
  },
  'resume-at': {
    name: 'Resume at another step',
    does: 'goes on at an earlier or later step',
    verb: 'Resume there',
    letter: 'j',
    harm: true,
    fields: ['path', 'undoBetween'],
    unfit: whileUndone,
  },
  recover: {
    name: 'Recover',
    does: 'undoes what depends on a step, tells its readers',
    verb: 'Undo it, and tell the readers',
    letter: 'v',
    harm: true,
    fields: ['path'],
    unfit: whileUndone,
  },
  skip: {
    name: 'Skip',
    does: 'closes a step without doing it',
    verb: 'Skip the step',
    letter: 's',
    harm: true,
    fields: ['path', 'effect', 'output'],
    unfit: whileUndone,
  },
  'retry-undo': {
    name: 'Retry the undo',
    does: 'requests a stuck undo again now',
    verb: 'Request the undo again',
    letter: 'u',
    fields: ['path'],
    unfit: notUndone,
  },
  'mark-compensated': {
    name: 'Mark as undone',
    does: 'a person undid it by hand',
    verb: 'Mark as undone, then go on',
    letter: 'm',
    harm: true,
    fields: ['path'],
    unfit: notUndone,
  },
  acknowledge: {
    name: 'Acknowledge',
    does: 'notes that a person has seen it',
    verb: 'Note that I have seen it',
    letter: 'k',
    fields: [],
    unfit: ({ exceptionId, undo }) => (exceptionId === undefined && !undo?.stuck.length ? 'no exception is open' : undefined),
  },
  amend: {
    name: 'Amend',
    does: 'changes limits or variables of this order',
    verb: 'Change this order',
    letter: 'a',
    fields: ['endBy', 'maxFailures', 'retryPath', 'retries', 'intervalSeconds', 'variables'],
  },
  suspend: {
    name: 'Suspend',
    does: 'stops the time, keeps everything',
    verb: 'Suspend the order',
    letter: 'p',
    fields: [],
    unfit: ({ suspended }) => (suspended ? 'it is suspended' : undefined),
  },
  resume: {
    name: 'Resume',
    does: 'lets the time run again',
    verb: 'Resume the order',
    letter: 'o',
    fields: [],
    unfit: ({ suspended }) => (suspended ? undefined : 'it is not suspended'),
  },
  compensate: {
    name: 'Undo',
    does: 'undoes what is done, newest first',
    verb: 'Undo what is done',
    letter: 'z',
    harm: true,
    fields: [],
    unfit: whileUndone,
  },
  cancel: {
    name: 'Cancel',
    does: 'undoes what is done, ends as canceled',
    verb: 'Cancel the order',
    letter: 'c',
    harm: true,
    fields: [],
    unfit: whileUndone,
  },
  migrate: {
    name: 'Migrate',
    does: 'moves it to another version, where it is',
    verb: 'Move to this version',
    letter: 'w',
    fields: ['version'],
    unfit: whileUndone,
  },
  restart: {
    name: 'Restart',
    does: 'ends it, and begins it as another order',
    verb: 'Restart as a new order',
    letter: 'n',
    harm: true,
    fields: ['undoFirst', 'keepEffects', 'order', 'version'],
    unfit: whileUndone,
  },
  terminate: {
    name: 'Terminate',
    does: 'ends it as it is, undoes nothing',
    verb: 'Terminate, undo nothing',
    letter: 't',
    harm: true,
    fields: [],
  },
};

export const kindNames = Object.keys(kinds) as InstructionKind[];

const pretty = (value: unknown): string => (value === undefined || value === null ? '' : JSON.stringify(value, null, 2));

/** Returns the steps that an instruction of a kind may name. */
export function pathsFor(kind: InstructionKind, order: Order, workflow: Workflow | undefined): readonly string[] {
  const open = order.steps.filter(({ path, status }) => status !== 'Closed' && !isUndo(path));
  if (kind === 'replace-input') return open.filter(({ agent }) => agent !== null).map(({ path }) => path);
  if (kind === 'skip') return open.map(({ path }) => path);
  if (kind === 'retry-undo' || kind === 'mark-compensated') return order.undo?.stuck.map(({ path }) => path) ?? [];
  if (kind !== 'resume-at' && kind !== 'recover') return [];
  const followed = order.steps.filter(({ path }) => !isUndo(path)).map(({ path }) => path);
  return [
    ...new Set([
      ...followed,
      ...(workflow?.steps.map(({ path }) => path) ?? []).filter((path) => !followed.some((each) => definitionPath(each) === path)),
    ]),
  ];
}

/** Returns the values with which a form begins. */
export function startValues(kind: InstructionKind, order: Order, workflow: Workflow | undefined, at: string | undefined): Values {
  const paths = pathsFor(kind, order, workflow);
  const blocked = order.fault?.source ?? undefined;
  const path = [at, blocked, paths[0]].find((each) => each !== undefined && paths.includes(each)) ?? '';
  return {
    path,
    output: '',
    effect: '',
    input: pretty(order.steps.find((step) => step.path === path)?.input),
    undoBetween: '',
    answer: '',
    completeWithinSeconds: '',
    endBy: '',
    maxFailures: '',
    retryPath: '',
    retries: '',
    intervalSeconds: '',
    variables: '',
    order: pretty(order.order),
    version: '',
    undoFirst: '',
    keepEffects: false,
    reason: '',
  };
}

/** Returns the schema of a value of an instruction. */
export function schemaFor(field: FieldName, values: Values, order: Order, workflow: Workflow | undefined): JsonObject | undefined {
  const path = field === 'answer' ? (order.fault?.source ?? '') : values.path;
  const step = workflow?.steps.find((each) => each.path === definitionPath(path));
  const schema =
    field === 'input'
      ? step?.inputSchema
      : field === 'output' || field === 'answer'
        ? step?.outputSchema
        : field === 'order'
          ? workflow?.order
          : undefined;
  return schema as JsonObject | undefined;
}

/** An instruction as it is sent, or what is missing in the form. */
export type Built =
  | { readonly instruction: { readonly kind: InstructionKind; readonly [field: string]: Json } }
  | { readonly missing: string };

export function built(kind: InstructionKind, values: Values, start: Values): Built {
  const texts = ['input', 'output', 'answer', 'variables', 'order'] as const;
  const json: { [field: string]: Json } = {};
  for (const field of texts) {
    if (!fieldsSent(kind).includes(field) || values[field].trim() === '' || (field === 'order' && values.order === start.order)) continue;
    const value = parsed(values[field]);
    if (!value.ok) return { missing: `${field}: ${value.problem}` };
    json[field] = value.value;
  }
  return shapes[kind]?.(values, json) ?? { instruction: { kind, ...json } };
}

const fieldsSent = (kind: InstructionKind): readonly FieldName[] => kinds[kind].fields;
const given = (kind: InstructionKind, fields: { readonly [field: string]: Json | undefined }): Built => ({
  instruction: { kind, ...defined(fields) },
});
const defined = (fields: { readonly [field: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
const number = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
const path = ({ path: name }: Values): string | undefined => (name === '' ? undefined : name);

type Shape = (values: Values, json: { readonly [field: string]: Json }) => Built;

/** How each kind with fields is built from its form. */
const shapes: { readonly [kind in InstructionKind]?: Shape } = {
  resubmit: (values, json) => given('resubmit', { ...json, completeWithinSeconds: number(values.completeWithinSeconds) }),
  'replace-input': (values, { input }) =>
    input === undefined ? { missing: 'Give the new input.' } : given('replace-input', { path: path(values), input }),
  'resume-at': (values) => {
    if (values.path === '') return { missing: 'Choose the step at which the order goes on.' };
    if (values.undoBetween === '') return { missing: 'Say whether what was done since is undone first.' };
    return given('resume-at', { path: values.path, undoBetween: values.undoBetween === 'yes' });
  },
  skip: (values, { output }) =>
    values.effect === ''
      ? { missing: 'Say whether it was done by hand.' }
      : given('skip', { path: path(values), effect: values.effect, output }),
  recover: (values) => given('recover', { path: path(values) }),
  'retry-undo': (values) => given('retry-undo', { path: path(values) }),
  'mark-compensated': (values) => given('mark-compensated', { path: path(values) }),
  amend: (values, { variables }) => {
    const retry =
      values.retryPath === ''
        ? undefined
        : defined({ path: values.retryPath, retries: number(values.retries), intervalSeconds: number(values.intervalSeconds) });
    const endBy = values.endBy === '' ? undefined : new Date(values.endBy).toISOString();
    const fields = { endBy, maxFailures: number(values.maxFailures), variables, retry };
    return Object.values(fields).every((field) => field === undefined) ? { missing: 'Change at least one value.' } : given('amend', fields);
  },
  migrate: (values) => (values.version === '' ? { missing: 'Give the version.' } : given('migrate', { version: number(values.version) })),
  restart: (values, { order }) =>
    values.undoFirst === ''
      ? { missing: 'Say whether everything is undone first.' }
      : given('restart', {
          undoFirst: values.undoFirst === 'yes',
          keepEffects: values.keepEffects || undefined,
          order,
          version: number(values.version),
        }),
};
