import type { JsonObject } from '#core/data/json';
import type { InstructionKind, Order, Workflow } from '../api/types.ts';
import { definitionPath, isUndo } from '../graph/look.ts';

/** The text that a person has typed into the form of an instruction. JSON values are texts until they are sent. */
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
  readonly handlerWorkflow: string;
  readonly handledFault: string;
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
  /** The label of the button. */
  readonly verb: string;
  /** Set if the effect cannot be taken back. */
  readonly harm?: true;
  /** The letter in the menu of actions. */
  readonly letter: string;
  readonly fields: readonly FieldName[];
  /** Returns why this instruction makes no sense now. This is a first hint: the check of the API decides. */
  readonly unfit?: (order: Order) => string | undefined;
}

const isBlocked = ({ processState }: Order): boolean => processState === 'Error';
const notBlocked = (order: Order): string | undefined => (isBlocked(order) ? undefined : 'only for an order in Error');
const whileUndone = (order: Order): string | undefined => (order.undo ? 'the order is being undone' : undefined);
const notStuck = ({ undo }: Order): string | undefined => (undo && undo.stuck.length > 0 ? undefined : 'no undo is stuck');
const whileSuspended = ({ suspended }: Order): string | undefined => (suspended ? 'resume the order first' : undefined);

/** The kinds of instructions, in the order in which the menu shows them. */
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
    name: 'Correct the input',
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
    unfit: (order) => whileUndone(order) ?? whileSuspended(order),
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
    unfit: (order) => notStuck(order) ?? whileSuspended(order),
  },
  'mark-compensated': {
    name: 'Mark as undone',
    does: 'notes that a person has undone it by hand',
    verb: 'Mark it as undone',
    letter: 'm',
    harm: true,
    fields: ['path'],
    unfit: notStuck,
  },
  handle: {
    name: 'Have it handled',
    does: 'begins a workflow for each exception of a finished order',
    verb: 'Begin the workflow',
    letter: 'h',
    harm: true,
    fields: ['handlerWorkflow', 'version'],
    unfit: ({ processState }) => (processState === 'Processed' ? undefined : 'only for a finished order'),
  },
  acknowledge: {
    name: 'Acknowledge',
    does: 'notes that a person has seen the exception',
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
    fields: ['endBy', 'maxFailures', 'retryPath', 'retries', 'intervalSeconds', 'variables', 'handlerWorkflow', 'handledFault'],
  },
  suspend: {
    name: 'Suspend',
    does: 'requests nothing more until somebody resumes it',
    verb: 'Suspend the order',
    letter: 'p',
    fields: [],
    unfit: ({ suspended }) => (suspended ? 'it is suspended' : undefined),
  },
  resume: {
    name: 'Resume',
    does: 'lets a suspended order go on where it stopped',
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
    fields: ['path'],
    unfit: (order) => whileUndone(order) ?? notBlocked(order),
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
    does: 'moves it to another version, at the same step',
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

/** A suspension of an order that is being undone stops its undos. */
const stopOfUndo = {
  name: 'Stop the undo',
  does: 'requests no more undos until somebody resumes it',
  verb: 'Stop the undo',
};

/** Returns a kind in the words that fit the state of the order. */
export const kindFor = (kind: InstructionKind, { undo }: Pick<Order, 'undo'>): Kind =>
  kind === 'suspend' && undo ? { ...kinds.suspend, ...stopOfUndo } : kinds[kind];

/** The decisions that a person may make about an exception of a finished order. */
const afterTheEnd: ReadonlySet<InstructionKind> = new Set(['restart', 'handle', 'acknowledge']);

/** Returns why an instruction of this kind makes no sense now; undefined if it may. The check of the API decides. */
export function unfitNow(kind: InstructionKind, order: Order): string | undefined {
  if (order.processState !== 'Processed') return kinds[kind].unfit?.(order);
  if (!afterTheEnd.has(kind)) return 'the order is finished';
  return order.exceptionId === undefined ? 'the order is finished, and no exception is open' : kinds[kind].unfit?.(order);
}

export const kindNames = Object.keys(kinds) as InstructionKind[];

const pretty = (value: unknown): string => (value === undefined || value === null ? '' : JSON.stringify(value, null, 2));

/** Returns the steps that an instruction of a kind may name. */
export function pathsFor(kind: InstructionKind, order: Order, workflow: Workflow | undefined): readonly string[] {
  const open = order.steps.filter(({ path, status }) => status !== 'Closed' && !isUndo(path));
  if (kind === 'replace-input') return open.filter(({ agent }) => agent !== null).map(({ path }) => path);
  if (kind === 'skip') return open.map(({ path }) => path);
  if (kind === 'retry-undo' || kind === 'mark-compensated') return order.undo?.stuck.map(({ path }) => path) ?? [];
  if (kind === 'compensate') return scopesAround(order.fault?.source ?? undefined);
  if (kind !== 'resume-at' && kind !== 'recover') return [];
  const followed = order.steps.filter(({ path }) => !isUndo(path)).map(({ path }) => path);
  return [
    ...new Set([
      ...followed,
      ...(workflow?.steps.map(({ path }) => path) ?? []).filter((path) => !followed.some((each) => definitionPath(each) === path)),
    ]),
  ];
}

/** Returns the paths of the scopes around a step, the outermost first. The whole order is not among them. */
function scopesAround(place = ''): readonly string[] {
  const names = place.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/')).slice(1, -1);
}

/** Returns the values with which a form begins. */
export function startValues(kind: InstructionKind, order: Order, workflow: Workflow | undefined, at: string | undefined): Values {
  const paths = pathsFor(kind, order, workflow);
  const blocked = order.fault?.source ?? undefined;
  const usual = kind === 'compensate' ? [] : [at, blocked, paths[0]];
  const path = usual.find((each) => each !== undefined && paths.includes(each)) ?? '';
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
    handlerWorkflow: '',
    handledFault: order.fault?.type ?? '',
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
