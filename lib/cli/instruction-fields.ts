import type { OrderInstructionKind } from '#core/instructions/index';

/** The fields of each kind of instruction beside its reason, as the API names them. A test compares them with the schemas of the API. */
export const instructionFields: { readonly [kind in OrderInstructionKind]: readonly string[] } = {
  resubmit: ['answer?', 'completeWithinSeconds?'],
  skip: ['path?', 'output?', 'effect'],
  'replace-input': ['path?', 'input'],
  'resume-at': ['path', 'undoBetween'],
  restart: ['order?', 'version?', 'undoFirst', 'keepEffects?'],
  recover: ['path?'],
  compensate: ['path?'],
  'retry-undo': ['path?'],
  'mark-compensated': ['path?'],
  cancel: [],
  terminate: [],
  suspend: [],
  resume: [],
  amend: ['endBy?', 'maxFailures?', 'retry?', 'variables?', 'handle?'],
  migrate: ['version'],
  handle: ['workflow', 'version?'],
  acknowledge: [],
};

/** Returns the lines of a help that name the fields of each kind. */
export function fieldsHelp(): string {
  const width = Math.max(...Object.keys(instructionFields).map((kind) => kind.length));
  const lines = Object.entries(instructionFields).map(
    ([kind, fields]) => `  ${kind.padEnd(width)}  ${fields.length === 0 ? 'none' : fields.join(', ')}`,
  );
  return ['Kinds, and their fields for --fields (? may be left out):', ...lines, 'A kind explained: redress order KIND --help'].join('\n');
}
