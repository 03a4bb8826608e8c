/*
 * Limits of AWS and settings of the deployment, defined only here. The topology, the CDK construct, the host and half of the worlds of the
 * simulation use them.
 */

const second = 1_000;
const minute = 60 * second;

/** Time limits of one run of a function. */
export const runs = {
  /** The API. API Gateway waits no longer. */
  answerMs: 29 * second,
  /** Functions that consume queues and call no remote service. */
  queueMs: 30 * second,
  /** The supervisor: one minute of passes, and the time of the last pass. */
  passMs: 70 * second,
  sweepMs: 15 * minute,
  /** A bulk run that takes longer continues in the next run of its function. */
  bulkMs: 15 * minute,
  /** The notifier: one minute of passes, and the time of the last calls. */
  notifyMs: 90 * second,
  /** An agent's time to reply, in addition to the step's time. */
  answeringMs: 5 * second,
  /** The limit of Lambda. */
  maxMs: 15 * minute,
} as const;

/** Default time of a step, the supervisor's period and tolerance for late steps, and the age at which the overview is written again. */
export const steps = { stepMs: minute, periodMs: 5 * second, toleranceMs: 2 * second, overviewMs: 45 * second } as const;

/** Settings of every queue. */
export const queueFigures = {
  batchMax: 10,
  /** A batch is delivered as soon as one message is available. */
  windowMs: 0,
  /** Deliveries before the queue redrives a message. It is the maximum of SQS: only long outages redeliver a message so often. */
  deliveriesMax: 1_000,
  /** Retention, the maximum of SQS. No guarantee of the system depends on it. */
  keptMs: 14 * 24 * 60 * minute,
  messageBytesMax: 1_048_576,
  hiddenMaxMs: 12 * 60 * minute,
} as const;

/** Size limit of an item, and the part that a state leaves free: for the fault StateTooLarge and its handling. */
export const tableFigures = { itemBytesMax: 400 * 1024, stateReserveBytes: 40 * 1024 } as const;

/** Allowance for the time between the receipt of a message and the start of its run. */
const receivedMs = 5 * second;
/** Lambda may run an agent up to this often for one delivery, before another instance can receive the same request. */
const runsOfAgents = 6;

/**
 * Returns the visibility timeout of a queue. If a process crashes, a message for the scheduler must be redelivered within the
 * time of its step. So it is hidden for one run only; two runs on one message do no harm. Two agents that work on one request
 * could call a remote service twice, so a request stays hidden for several runs.
 */
export const hiddenMs = ({ file, timeoutMs }: { readonly file: string; readonly timeoutMs: number }): number =>
  Math.min(file === 'agent' ? runsOfAgents * timeoutMs : timeoutMs + receivedMs, queueFigures.hiddenMaxMs);
