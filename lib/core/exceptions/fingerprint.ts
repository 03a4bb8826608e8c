import { type Fault, shortType } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import { fingerprint } from '#core/definition/fingerprint';
import { messageTemplate } from './message-template.ts';

/** The parts of an exception from which its fingerprint is made. */
export interface Fingerprinted {
  /** The name of the workflow. Its version does not count. */
  readonly workflow: string;
  /** The path of the activity; null if no activity is meant. */
  readonly path: string | null;
  readonly fault: Pick<Fault, 'type' | 'class' | 'message' | 'groupBy'>;
}

/** Whether the message is a part of the fingerprint: the fault says so, or it is not declared. */
export const countsMessage = ({ class: faultClass, groupBy }: Fingerprinted['fault']): boolean =>
  groupBy === 'message' || faultClass !== 'expected';

/**
 * Returns the fingerprint of an exception: the same for the same workflow, step, type and message (`countsMessage`), in all turns of a
 * loop.
 */
export const exceptionFingerprint = ({ workflow, path, fault }: Fingerprinted): string =>
  fingerprint([
    workflow,
    path === null ? null : definitionPath(path),
    shortType(fault.type),
    ...(countsMessage(fault) ? [messageTemplate(fault.message)] : []),
  ]);
