/** The answers of the API, as far as the console reads them. `/openapi.json` has all of it. */

export type ProcessState = 'Pending' | 'Processing' | 'Processed' | 'Error';
export type Outcome = 'completed' | 'compensated' | 'rejected' | 'canceled' | 'terminated';

export interface Fault {
  readonly type: string;
  readonly class: string;
  readonly message: string;
  readonly permanent: boolean;
  readonly source: string | null;
  readonly data: unknown;
}

export interface Wait {
  readonly kind: 'signal' | 'answer' | 'time' | 'order' | 'outage' | 'undo' | 'confirmation';
  readonly name?: string | null;
  readonly question?: string | null;
  readonly workflow?: string;
  readonly orderId?: string | null;
  readonly agent?: string;
  readonly since?: string;
  readonly path?: string | null;
  readonly until?: string | null;
}

export interface ListedOrder {
  readonly orderId: string;
  readonly reference: string | null;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly processState: ProcessState;
  readonly outcome: Outcome | null;
  readonly suspended: boolean;
  readonly completeBy: string | null;
  readonly submittedAt: string;
  readonly updatedAt: string;
  readonly restartedAs: string | null;
  readonly restartedFrom: string | null;
  readonly parent?: string;
  readonly failureCount: number;
  readonly exceptionId?: string;
  readonly taskId?: string;
  readonly remainingSeconds: number | null;
  readonly fault: Fault | null;
  readonly waitsFor: Wait | null;
  readonly client: string;
  readonly rev: number;
  readonly lockedBy: string | null;
  readonly heldBy: string | null;
  readonly lockedUntil?: string | null;
}

export interface Step {
  readonly path: string;
  readonly name: string;
  readonly activity: 'step' | 'call' | 'waitFor' | 'askOperator' | 'delay';
  readonly agent: string | null;
  readonly operation: string | null;
  readonly waitsFor: Wait | null;
  readonly status: 'Initialized' | 'Executing' | 'Canceling' | 'Faulting' | 'Compensating' | 'Closed';
  readonly result: 'Succeeded' | 'Faulted' | 'Canceled' | 'Compensated' | null;
  readonly attempts: number;
  readonly completeBy: string | null;
  readonly startedAt: string | null;
  readonly closedAt: string | null;
  readonly requestedAt?: string;
  readonly answeredAt?: string;
  readonly input?: unknown;
  readonly output: unknown;
}

export interface Undo {
  readonly scope: string;
  readonly done: readonly string[] | number;
  readonly left: readonly string[] | number;
  readonly now: readonly string[] | string | null;
  readonly stuck: readonly {
    readonly path: string;
    readonly attempts: number;
    readonly lastFault: unknown;
    readonly nextAt: string | null;
  }[];
}

export interface Order extends ListedOrder {
  readonly output?: unknown;
  readonly endBy: string | null;
  readonly steps: readonly Step[];
  readonly order: unknown;
  readonly explanation: string | null;
  readonly undo?: Undo;
}

export interface HistoryEntry {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly path?: string;
  readonly [field: string]: unknown;
}

export interface UndoPlan {
  readonly scope: string;
  readonly steps: readonly {
    readonly path: string;
    readonly agent: string;
    readonly operation: string;
    readonly input: unknown;
    readonly outcomeUnknown: boolean;
    readonly impossible?: string;
  }[];
  readonly withoutUndo: readonly { readonly path: string; readonly agent: string; readonly operation: string }[];
}

interface Operation {
  readonly path: string;
  readonly operation: string;
}

interface CheckReason {
  readonly code: string;
  readonly path?: string;
  readonly detail: string;
}

/** The effects of an instruction. */
export interface Check {
  readonly feasible: boolean;
  readonly refusals: readonly CheckReason[];
  readonly warnings: readonly CheckReason[];
  readonly effects: { readonly requests: readonly Operation[]; readonly undoes: readonly Operation[]; readonly skips: readonly string[] };
  readonly then: readonly Operation[];
  readonly graph: readonly { readonly path: string; readonly changes: readonly ('undone' | 'runs' | 'skipped' | 'canceled')[] }[];
  readonly estimate: { readonly requests: number; readonly dollars: number };
}

export interface Exception {
  readonly id: string;
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly path: string | null;
  readonly type: string;
  readonly class: string;
  readonly message: string;
  readonly before: { readonly processState: string; readonly status: string | null };
  readonly after: { readonly processState: string; readonly status: string | null };
  readonly attempt: number;
  readonly at: string;
  readonly fingerprint: string;
  readonly state: 'open' | 'handled';
  readonly handling: { readonly by: string; readonly id?: string; readonly control: string; readonly at: string } | null;
}

export interface ExceptionGroup {
  readonly fingerprint: string;
  readonly type: string;
  readonly class: string;
  readonly workflow: string;
  readonly step: string | null;
  readonly count: number;
  readonly open: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly perHour: readonly number[];
  readonly sampleOrderId: string;
  readonly sampleMessage: string;
}

interface Depth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly oldestAgeMs: number;
}

export interface Channel {
  readonly name: string;
  readonly open: boolean;
  readonly failuresInRow: number;
  readonly since?: string;
  readonly by?: string;
  readonly reason?: string;
  readonly letsGo?: boolean;
  readonly deadLetters: number;
  readonly moreDeadLetters?: true;
  readonly requests: Depth;
  readonly replies?: Depth;
  readonly breaker?: {
    readonly phase: 'closed' | 'open' | 'half-open';
    readonly awaySince?: string;
    readonly failedProbes?: number;
    readonly nextProbeAt?: string;
    readonly backSince?: string;
  };
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly role: string;
  readonly kind: string;
  readonly target: string;
  readonly action: string;
  readonly reason: string | null;
  readonly before: unknown;
  readonly after: unknown;
}
