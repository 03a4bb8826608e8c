import type { JsonObject } from '#core/data/json';
import type { Solution } from '../../api/types.ts';
import { quoted } from '../../instructions/commands.ts';

interface Figures {
  readonly used: number;
  readonly passed: number;
}

/** `24 of 26 passed`: what became of the tasks that the solution resolved. */
export const oddsText = ({ used, passed }: Figures): string => (used === 0 ? 'not used yet' : `${passed} of ${used} passed`);

/** Returns the condition under which tasks suggest a solution. */
export function appliesText({ appliesWhen, fingerprints }: Pick<Solution, 'appliesWhen' | 'fingerprints'>): string {
  if (appliesWhen !== undefined) return `where ${appliesWhen}`;
  return fingerprints.length === 0 ? 'nowhere: it is used by its id' : `for ${fingerprints.join(', ')}`;
}

/** Returns the command that writes a solution. */
export const solutionCommandOf = (id: string, solution: JsonObject, reason: string): string =>
  `echo ${quoted(JSON.stringify(solution))} | npx redress solution put ${id} - --reason ${quoted(reason)}`;

/** Returns the command that resolves a task with a solution. */
export const useCommandOf = (taskId: string, solutionId: string, values: JsonObject, reason: string): string =>
  [
    `npx redress task resolve ${taskId} --solution ${solutionId}`,
    ...Object.entries(values).map(([name, value]) => `--parameter ${quoted(`${name}=${JSON.stringify(value)}`)}`),
    `--reason ${quoted(reason || 'why')}`,
  ].join(' ');
