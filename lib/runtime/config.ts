import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { SetupError } from '#ports/errors';
import { steps } from '#ports/limits';
import { lockPolicies } from '#roles/scheduler/lease';

const onOff = z.enum(['on', 'off']).transform((value) => value === 'on');
const seconds = z.coerce.number().positive().max(86_400);
const wholeNumber = z.coerce.number().int().min(0);

const hostNames = z
  .string()
  .regex(/^[A-Za-z0-9.-]+( *, *[A-Za-z0-9.-]+)*$/, 'expected host names without ports, separated by commas')
  .transform((value) => value.split(',').map((name) => name.trim()));

const namesWithPorts = z
  .string()
  .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?( *, *[A-Za-z0-9.-]+(:\d{1,5})?)*$/, 'expected host names, some with a port, separated by commas')
  .transform((value) => value.split(',').map((name) => name.trim().toLowerCase()));

/** The variables of `Config`, each with its default for one machine. */
const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  HOST_NAMES: hostNames.default([]),
  REDRESS_DATA: z.string().min(1).default('.redress'),
  REDRESS_SAMPLES: onOff.default(true),
  REDRESS_QUIET: onOff.default(false),
  REDRESS_ADAPTERS: z.enum(['embedded', 'aws']).default('embedded'),
  SUPERVISOR_PERIOD_SECONDS: seconds.default(2),
  OVERVIEW_PERIOD_SECONDS: z.coerce.number().min(0).max(3600).default(5),
  STEP_COMPLETE_WITHIN_SECONDS: seconds.default(10),
  MAX_FAILURES: wholeNumber.max(1000).default(3),
  LONG_WAIT_SECONDS: z.coerce.number().positive().max(limits.secondsMax).default(3600),
  INSTANCE_LOCKED_ACTION: z.enum(lockPolicies).default('NoRetry'),
  CLAIM_ON_SUBMIT: onOff.default(true),
  ANNOUNCE_PROCESSED: onOff.default(false),
  CLOCK_TOLERANCE_MS: wholeNumber.max(3_600_000).default(0),
  TASK_DUE_SECONDS: z.coerce.number().positive().max(limits.secondsMax).default(14_400),
  TASK_REMINDER_SECONDS: z.coerce.number().positive().max(limits.secondsMax).default(3600),
  CLIENT_ORDERS_PER_SECOND: z.coerce.number().positive().max(1_000_000).optional(),
  RETENTION_DAYS: z.coerce.number().positive().max(36_600).optional(),
  DEFAULT_WORKFLOW: z.string().min(1).default('fulfil-order'),
  NOTIFY_URL: z.url({ protocol: /^https?$/ }).optional(),
  NOTIFY_CREDENTIAL: z.string().min(1).default('NOTIFY_SECRET'),
  NOTIFY_HOSTS: namesWithPorts.default([]),
  REDRESS_NOTIFY_TOPIC: z
    .string()
    .regex(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/, 'expected the ARN of a topic')
    .optional(),
  CONSOLE_URL: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'off']).default('warn'),
});

/** Defaults on AWS, where clocks differ and networks are slower. Variables that are set override them. */
const onAws = {
  SUPERVISOR_PERIOD_SECONDS: String(steps.periodMs / 1000),
  OVERVIEW_PERIOD_SECONDS: String(steps.overviewMs / 1000),
  STEP_COMPLETE_WITHIN_SECONDS: String(steps.stepMs / 1000),
  CLOCK_TOLERANCE_MS: String(steps.toleranceMs),
};

export interface Config {
  readonly port: number;
  readonly host: string;
  /** Names by which callers reach the API, besides those of this machine. */
  readonly hostNames: readonly string[];
  readonly dataFolder: string;
  readonly samples: boolean;
  /** Whether no line is printed for orders that end or are blocked. */
  readonly quiet: boolean;
  readonly adapters: 'embedded' | 'aws';
  readonly supervisorPeriodMs: number;
  /** The largest age of the overview; undefined: the supervisor writes none. */
  readonly overviewPeriodMs: number | undefined;
  readonly stepMs: number;
  readonly maxFailures: number;
  /** The pause before a step over its failure limit is requested again, with `onExhausted: 'wait'`. */
  readonly longWaitMs: number;
  readonly lockPolicy: (typeof lockPolicies)[number];
  readonly claimOnSubmit: boolean;
  readonly announceProcessed: boolean;
  readonly clockToleranceMs: number;
  /** The time until a task is due, and the time between its first two reminders, unless its workflow says otherwise. */
  readonly taskDueMs: number;
  readonly taskReminderMs: number;
  /** The average rate of submissions that one process accepts from one client; undefined: no limit. */
  readonly clientOrdersPerSecond: number | undefined;
  readonly retentionMs: number | undefined;
  /** The destinations of messages for people. */
  readonly notify: {
    /** The webhook of groups that have no destination of their own. */
    readonly url: string | undefined;
    /** The credential that signs for `url`. */
    readonly credential: string;
    /** The only hosts to which webhooks are sent, some with a port. The host of `url` is one of them. */
    readonly hosts: readonly string[];
    /** The topic of SNS of groups that have no destination of their own, and of destinations that name no topic. */
    readonly topicArn: string | undefined;
  };
  /** The address of the console in messages, without a slash at its end. */
  readonly consoleUrl: string | undefined;
  readonly defaultWorkflow: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'off';
}

/**
 * Reads the configuration. Empty variables count as absent.
 *
 * @throws SetupError that names every wrong variable and its expected value.
 */
export function readConfig(environment: { readonly [name: string]: string | undefined }): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== '' && value !== undefined && Object.hasOwn(Environment.shape, name)),
  );
  const parsed = Environment.safeParse({ ...(given['REDRESS_ADAPTERS'] === 'aws' ? onAws : {}), ...given });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${String(path[0])}=${given[String(path[0])]}: ${message}`);
    throw new SetupError(`The configuration is invalid: ${problems.join('; ')}.`, 'Correct or unset these variables.');
  }
  const variables = parsed.data;
  return {
    port: variables.PORT,
    host: variables.HOST,
    hostNames: variables.HOST_NAMES,
    dataFolder: variables.REDRESS_DATA,
    samples: variables.REDRESS_SAMPLES,
    quiet: variables.REDRESS_QUIET,
    adapters: variables.REDRESS_ADAPTERS,
    supervisorPeriodMs: variables.SUPERVISOR_PERIOD_SECONDS * 1000,
    overviewPeriodMs: variables.OVERVIEW_PERIOD_SECONDS === 0 ? undefined : variables.OVERVIEW_PERIOD_SECONDS * 1000,
    stepMs: variables.STEP_COMPLETE_WITHIN_SECONDS * 1000,
    maxFailures: variables.MAX_FAILURES,
    longWaitMs: variables.LONG_WAIT_SECONDS * 1000,
    lockPolicy: variables.INSTANCE_LOCKED_ACTION,
    claimOnSubmit: variables.CLAIM_ON_SUBMIT,
    announceProcessed: variables.ANNOUNCE_PROCESSED,
    clockToleranceMs: variables.CLOCK_TOLERANCE_MS,
    taskDueMs: variables.TASK_DUE_SECONDS * 1000,
    taskReminderMs: variables.TASK_REMINDER_SECONDS * 1000,
    clientOrdersPerSecond: variables.CLIENT_ORDERS_PER_SECOND,
    retentionMs: variables.RETENTION_DAYS === undefined ? undefined : variables.RETENTION_DAYS * 86_400_000,
    notify: {
      url: variables.NOTIFY_URL,
      credential: variables.NOTIFY_CREDENTIAL,
      hosts: [...variables.NOTIFY_HOSTS, ...(variables.NOTIFY_URL === undefined ? [] : [new URL(variables.NOTIFY_URL).host])],
      topicArn: variables.REDRESS_NOTIFY_TOPIC,
    },
    consoleUrl: variables.CONSOLE_URL?.replace(/\/+$/, ''),
    defaultWorkflow: variables.DEFAULT_WORKFLOW,
    logLevel: variables.LOG_LEVEL,
  };
}
