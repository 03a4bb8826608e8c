import { type Acknowledge, acknowledge } from './acknowledge.ts';
import { type Amend, amend } from './amend.ts';
import { type Cancel, cancel } from './cancel.ts';
import { type Compensate, compensate } from './compensate.ts';
import { type Handle, handle } from './handle.ts';
import type { InstructionKind } from './kind.ts';
import { type MarkCompensated, markCompensated } from './mark-compensated.ts';
import { type Migrate, migrate } from './migrate.ts';
import { type Recover, recover } from './recover.ts';
import { type ReplaceInput, replaceInput } from './replace-input.ts';
import { type Restart, restart } from './restart.ts';
import { type Resubmit, resubmit } from './resubmit.ts';
import { type Resume, resume } from './resume.ts';
import { type ResumeAt, resumeAt } from './resume-at.ts';
import { type RetryUndo, retryUndo } from './retry-undo.ts';
import { type Skip, skip } from './skip.ts';
import { type Suspend, suspend } from './suspend.ts';
import { type Terminate, terminate } from './terminate.ts';

export { handlersMax } from './handle.ts';
export { resumeAt };

/** The kinds of instructions. A new kind needs a file in this folder, its name here and its shape below. */
const kinds = {
  acknowledge,
  amend,
  cancel,
  compensate,
  handle,
  'mark-compensated': markCompensated,
  migrate,
  recover,
  'replace-input': replaceInput,
  restart,
  resubmit,
  resume,
  'resume-at': resumeAt,
  'retry-undo': retryUndo,
  skip,
  suspend,
  terminate,
} satisfies Record<OrderInstruction['kind'], unknown>;

/** The content of an instruction. Its author and its reason are not part of it. */
export type OrderInstruction =
  | Acknowledge
  | Amend
  | Cancel
  | Compensate
  | Handle
  | MarkCompensated
  | Migrate
  | Recover
  | ReplaceInput
  | Restart
  | Resubmit
  | Resume
  | ResumeAt
  | RetryUndo
  | Skip
  | Suspend
  | Terminate;

export type OrderInstructionKind = OrderInstruction['kind'];

/** Returns the kind of an instruction. The cast is safe, because the table holds each kind under the `kind` of its own shape. */
export const kindOf = <I extends OrderInstruction>({ kind }: Pick<I, 'kind'>): InstructionKind<I> =>
  kinds[kind] as unknown as InstructionKind<I>;
