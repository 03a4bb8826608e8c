/**
 * Figures of what is deployed and of what AWS takes. They stand here alone: the topology and the CDK construct make the stack from
 * them, the host runs by them, and half of the simulated worlds play them.
 */
const second = 1_000;
const minute = 60 * second;

/** How long one run of a function may take. */
export const runs = {
  /** The API: a gateway waits no longer. */
  answerMs: 29 * second,
  /** Whatever takes messages and calls no remote service. */
  queueMs: 30 * second,
  /** One minute of passes, and what the last of them takes. */
  passMs: 70 * second,
  sweepMs: 15 * minute,
  /** Beyond a step's time: what it takes an agent to answer. */
  answeringMs: 5 * second,
  /** Lambda runs nothing for longer. */
  maxMs: 15 * minute,
} as const;

/** A step's time where nobody gives another one, and how the supervisor looks for late steps. */
export const steps = { stepMs: minute, periodMs: 5 * second, toleranceMs: 2 * second } as const;

/** What every queue has. */
export const queueFigures = {
  batchMax: 10,
  /** A batch is handed over as soon as anything is there. */
  windowMs: 0,
  /** Deliveries before the queue itself gives a message up: as many as SQS can count, since only what meets outages comes so often. */
  deliveriesMax: 1_000,
  /** As long as SQS keeps anything: what the system must do does not depend on it. */
  keptMs: 14 * 24 * 60 * minute,
  messageBytesMax: 1_048_576,
  hiddenMaxMs: 12 * 60 * minute,
} as const;

/** What one item of the table takes; and what a state leaves free of it, for the fault that says it is too large and what deals with that. */
export const tableFigures = { itemBytesMax: 400 * 1024, stateReserveBytes: 40 * 1024 } as const;

/** On top of a run: what lies between the receipt of a message and the start of its run. */
const receivedMs = 5 * second;
/** Lambda may repeat a run of an agent so often without a second one being at work on the same request. */
const runsOfAgents = 6;

/**
 * How long a message stays hidden from others once a function has it. A message for the scheduler must come again within the time of
 * the step that it is about, also where its process died: it is hidden for one run, and two runs on one message do no harm. Two
 * agents at work on one request could call a remote service twice: that message stays hidden for several runs.
 */
export const hiddenMs = ({ file, timeoutMs }: { readonly file: string; readonly timeoutMs: number }): number =>
  Math.min(file === 'agent' ? runsOfAgents * timeoutMs : timeoutMs + receivedMs, queueFigures.hiddenMaxMs);
