import type * as z from 'zod';
import type * as audit from '#api/schemas/audit';
import type * as bulk from '#api/schemas/bulk';
import type * as channels from '#api/schemas/channels';
import type * as chaos from '#api/schemas/chaos';
import type * as clusters from '#api/schemas/clusters';
import type * as deadLetters from '#api/schemas/dead-letters';
import type * as exceptions from '#api/schemas/exceptions';
import type * as instructions from '#api/schemas/instructions';
import type * as orders from '#api/schemas/orders';
import type * as overview from '#api/schemas/overview';
import type * as rules from '#api/schemas/rules';
import type * as solutions from '#api/schemas/solutions';
import type * as tasks from '#api/schemas/tasks';
import type * as workflows from '#api/schemas/workflows';

/** The answers of the API, from the schemas that `/openapi.json` shows. The console reads what operators and viewers see. */

type ForOperators<T> = Extract<T, { readonly client: string }>;

export type ListedOrder = ForOperators<z.output<typeof orders.ListedOrder>>;
export type Order = ForOperators<z.output<typeof orders.FullOrder>>;
export type Step = Order['steps'][number];
export type HistoryEntry = z.output<typeof orders.HistoryEntry>;

export type UndoPlan = z.output<typeof instructions.UndoPlanned>;
export type Check = z.output<typeof instructions.InstructionCheck>;
export type InstructionKind = z.input<typeof instructions.InstructionBody>['kind'];

export type ListedWorkflow = z.output<typeof workflows.ListedWorkflow>;
export type Workflow = z.output<typeof workflows.Workflow>;
export type CheckedHistories = z.output<typeof workflows.CheckedHistories>;
export type Cluster = z.output<typeof clusters.Cluster>;

export type Exception = z.output<typeof exceptions.Exception>;
export type ExceptionGroup = z.output<typeof exceptions.ExceptionGroup>;

export type BulkRun = z.output<typeof bulk.BulkRun>;
export type ListedBulkRun = z.output<typeof bulk.ListedBulkRun>;
export type BulkItem = z.output<typeof bulk.BulkItem>;

export type Rule = z.output<typeof rules.Rule>;
export type BackTest = z.output<typeof rules.BackTest>;
export type RuleVersion = z.output<typeof rules.RuleVersion>;

export type Solution = z.output<typeof solutions.Solution>;
export type Suggestion = z.output<typeof solutions.Suggestion>;

export type Task = z.output<typeof tasks.Task>;
export type WholeTask = z.output<typeof tasks.WholeTask>;

export type Channel = z.output<typeof channels.ChannelState>;
export type DeadLetter = z.output<typeof deadLetters.DeadLetterSummary>;
export type TreatedDeadLetter = z.output<typeof deadLetters.TreatedInBulk>;
export type WholeDeadLetter = z.output<typeof deadLetters.DeadLetterMessage>;

/** A count is an exact number, or a least number (`atLeast`). */
export type Overview = z.output<typeof overview.Overview>;
export type Count = Overview['processing'];

export type AuditEntry = z.output<typeof audit.AuditEntry>;

export type Chaos = z.output<typeof chaos.Chaos>;
export type Experiment = z.output<typeof chaos.Experiment>;
