import { type JsonObject, sortedText } from '#core/data/json';
import { ruleIdPattern } from '#core/rules/rule';
import { UsageError } from './errors.ts';
import type { Api } from './http.ts';
import { listed } from './orders.ts';
import { readData } from './submission-file.ts';
import type { Terminal } from './terminal.ts';
import { printable } from './text.ts';

/** A rule, as the API shows it. */
export interface RuleView extends JsonObject {
  readonly id: string;
  readonly name: string;
  readonly origin: string;
  readonly mode: string;
  readonly priority: number;
  readonly version: number;
  readonly hits: number;
}

/** The fields of a file: those that the author of a rule writes. */
export type RuleFile = JsonObject;

const notInFile: ReadonlySet<string> = new Set(['id', 'origin', 'version', 'hits', 'lastHitAt', 'acted', 'passed', 'failedAgain']);
const defaults = { mode: 'dry-run', priority: 0, timesPerOrder: 3 };

export const fileOf = (rule: JsonObject): RuleFile => Object.fromEntries(Object.entries(rule).filter(([field]) => !notInFile.has(field)));

export const rulePath = (id: string): string => `/rules/${encodeURIComponent(checkedId(id))}`;

/** Refuses an id that cannot exist. API Gateway decodes a path and then drops everything after a `?`, so the API would see another rule. */
function checkedId(id: string): string {
  if (ruleIdPattern.test(id)) return id;
  throw new UsageError(`Invalid rule id ${printable(id)}: expected 1 to 64 of a-z, 0-9 and "-".`);
}

export const rulesOf = (api: Api): Promise<readonly RuleView[]> => listed<RuleView>(api, '/rules');

/** Reads a rule from a file, or from standard input for `-`. */
export async function readRule(file: string, terminal: Pick<Terminal, 'readInput'>): Promise<RuleFile> {
  const value = await readData(`@${file}`, terminal);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RuleFile;
  throw new UsageError(`${file === '-' ? 'Standard input' : file} is not a rule: expected a JSON object.`);
}

/** A field whose value in a file differs from its value in the system. */
export interface Difference {
  readonly field: string;
  readonly system: string;
  readonly file: string;
}

/** Returns the differences between the system and a file, by field. A field that the file leaves out has its default. */
export function differences(system: RuleView | undefined, id: string, file: RuleFile): readonly Difference[] {
  const there: JsonObject = system ? fileOf(system) : {};
  const given: JsonObject = { name: id, ...defaults, ...file };
  const text = (rule: JsonObject, field: string) => (rule[field] === undefined ? '' : sortedText(rule[field]));
  return [...new Set([...Object.keys(there), ...Object.keys(given)])]
    .toSorted()
    .map((field) => ({ field, system: text(there, field), file: text(given, field) }))
    .filter(({ system, file }) => system !== file);
}

/** Writes a rule over the version `before`. If another admin has changed the rule since then, the API refuses the write. */
export async function writeRule(
  api: Api,
  before: RuleView | undefined,
  { id, file, reason }: { readonly id: string; readonly file: RuleFile; readonly reason: string },
): Promise<RuleView> {
  const headers = before ? { 'if-match': `"${before.version}"` } : {};
  return (await api.call<RuleView>('PUT', rulePath(id), { body: { ...file, reason }, headers })).body;
}
