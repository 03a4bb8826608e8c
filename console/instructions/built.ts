import type { Json, JsonObject } from '#core/data/json';
import type { InstructionKind } from '../api/types.ts';
import { parsed } from '../parts/json-text.ts';
import { type FieldName, kinds, type Values } from './kinds.ts';

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

/** The functions that build an instruction from its form, for each kind with fields. */
const shapes: { readonly [kind in InstructionKind]?: Shape } = {
  resubmit: (values, json) => given('resubmit', { ...json, completeWithinSeconds: number(values.completeWithinSeconds) }),
  'replace-input': (values, { input }) =>
    input === undefined ? { missing: 'Give the new input.' } : given('replace-input', { path: path(values), input }),
  'resume-at': (values) => {
    if (values.path === '') return { missing: 'Choose the step at which the order goes on.' };
    if (values.undoBetween === '') return { missing: 'Say whether the steps done since the chosen step are undone first.' };
    return given('resume-at', { path: values.path, undoBetween: values.undoBetween === 'yes' });
  },
  skip: (values, { output }) =>
    values.effect === ''
      ? { missing: 'Say whether the step was done by hand.' }
      : given('skip', { path: path(values), effect: values.effect, output }),
  compensate: (values) => given('compensate', { path: path(values) }),
  recover: (values) => given('recover', { path: path(values) }),
  'retry-undo': (values) => given('retry-undo', { path: path(values) }),
  'mark-compensated': (values) => given('mark-compensated', { path: path(values) }),
  amend: (values, { variables }) => {
    const retry =
      values.retryPath === ''
        ? undefined
        : defined({ path: values.retryPath, retries: number(values.retries), intervalSeconds: number(values.intervalSeconds) });
    const endBy = values.endBy === '' ? undefined : new Date(values.endBy).toISOString();
    const { handlerWorkflow: workflow, handledFault: fault } = values;
    if (workflow !== '' && fault.trim() === '') return { missing: 'Name the fault for which the handler workflow runs.' };
    const handle = workflow === '' ? undefined : [{ fault: fault.trim(), workflow }];
    const fields = { endBy, maxFailures: number(values.maxFailures), variables, retry, handle };
    return Object.values(fields).every((field) => field === undefined) ? { missing: 'Change at least one value.' } : given('amend', fields);
  },
  migrate: (values) => (values.version === '' ? { missing: 'Give the version.' } : given('migrate', { version: number(values.version) })),
  handle: ({ handlerWorkflow: workflow, version }) =>
    workflow === '' ? { missing: 'Choose the workflow.' } : given('handle', { workflow, version: number(version) }),
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
