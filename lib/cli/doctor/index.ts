import type { Cli } from '#cli/command';
import { type Examine, type Finding, skipped } from './finding.ts';
import { keyFiles, node, store } from './machine.ts';
import { certificate, health, token } from './system.ts';
import { channels, tasks } from './work.ts';

export type { Finding } from './finding.ts';

/** The checks that need no token. */
const ofMachine: readonly Examine[] = [node, keyFiles, store, certificate, health];

/** The checks of an operator, which need a token. */
const ofWork: { readonly [what: string]: Examine } = { channels, tasks };

/** Makes all checks, and skips those that an earlier finding makes impossible. */
export async function examineAll(cli: Cli): Promise<readonly Finding[]> {
  const findings = (await Promise.all(ofMachine.map((examine) => examine(cli)))).flat();
  if (findings.some(({ what, state }) => what === 'system' && state === 'failed'))
    return [...findings, ...['token', ...Object.keys(ofWork)].map((what) => skipped(what, 'The system does not answer.'))];
  const signedIn = await token(cli);
  const rest = signedIn[0]?.state === 'ok' ? await Promise.all(Object.values(ofWork).map((examine) => examine(cli))) : [];
  const left = rest.length > 0 ? [] : Object.keys(ofWork).map((what) => skipped(what, 'The token does not allow it.'));
  return [...findings, ...signedIn, ...rest.flat(), ...left];
}
