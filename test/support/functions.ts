import type { CreateFunction } from '#runtime/function';
import { create as agent } from '../../functions/agent.ts';
import { create as bulk } from '../../functions/bulk.ts';
import { create as children } from '../../functions/children.ts';
import { create as consumer } from '../../functions/consumer.ts';
import { create as deadLetter } from '../../functions/dead-letter.ts';
import { create as notifier } from '../../functions/notifier.ts';
import { create as scheduler } from '../../functions/scheduler.ts';
import { create as submissions } from '../../functions/submissions.ts';
import { create as supervisor } from '../../functions/supervisor.ts';

/** The shipped functions, by file, without the one that answers HTTP. */
export const functionsByFile: { readonly [file: string]: CreateFunction } = {
  agent,
  bulk,
  children,
  consumer,
  'dead-letter': deadLetter,
  notifier,
  scheduler,
  submissions,
  supervisor,
};
