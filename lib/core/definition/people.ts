import { isObject } from '#core/data/json';
import { secondsProblem } from './definition.ts';

/**
 * The people for whom a task is, when it is due, and who hears of it while nobody takes it. A workflow has these options for all its tasks,
 * a question for its own.
 */
export interface People {
  /** The group that should take the task. */
  readonly group?: string;
  /** Seconds until the task is due. The first reminder follows then. */
  readonly dueSeconds?: number;
  /** Seconds between the first two reminders. Each later interval is twice the one before, at most a day. */
  readonly every?: number;
  /** The groups to which the task escalates, in this order: every second reminder goes to the next group. */
  readonly escalateTo?: readonly string[];
}

export const peopleLimits = { groupCharactersMax: 64, escalationsMax: 8 } as const;

/** Whether a text is the name of a group or a person. */
export const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.length > 0 && name.length <= peopleLimits.groupCharactersMax;

const fields: ReadonlySet<string> = new Set(['group', 'dueSeconds', 'every', 'escalateTo']);

/** Returns the problems of the option `people`, one sentence each. A definition may be written by hand. */
export function peopleProblems(people: unknown): readonly string[] {
  if (people === undefined) return [];
  if (!isObject(people)) return [`people is ${JSON.stringify(people)}; it must be an object with group, dueSeconds, every or escalateTo.`];
  const { group, dueSeconds, every, escalateTo } = people;
  const unknown = Object.keys(people).filter((field) => !fields.has(field));
  return [
    ...unknown.map((field) => `people has the unknown field "${field}"; it may have ${[...fields].join(', ')}.`),
    ...(group === undefined || isName(group) ? [] : [`people.group is ${JSON.stringify(group)}; ${nameRule}`]),
    ...Object.entries({ dueSeconds, every }).flatMap(([field, seconds]) =>
      seconds === undefined ? [] : (secondsProblem(`people.${field}`, seconds, 'above 0') ?? []),
    ),
    ...(escalateTo === undefined || isGroups(escalateTo) ? [] : [`people.escalateTo is ${JSON.stringify(escalateTo)}; ${groupsRule}`]),
  ];
}

const nameRule = `it must be a text of 1 to ${peopleLimits.groupCharactersMax} characters.`;
const groupsRule = `it must be a list of 1 to ${peopleLimits.escalationsMax} names of groups, of 1 to ${peopleLimits.groupCharactersMax} characters each.`;
const isGroups = (groups: unknown): boolean =>
  Array.isArray(groups) && groups.length > 0 && groups.length <= peopleLimits.escalationsMax && groups.every(isName);

/** Returns the option of a question within a workflow: each field of the question replaces that of the workflow. */
export const peopleOf = (workflow: People | undefined, question: People | undefined): People => ({ ...workflow, ...question });

/** Returns the option of a workflow, with the defaults of the deployment. */
export type PeopleFor = (workflow: { readonly name: string; readonly version: number }) => People;
