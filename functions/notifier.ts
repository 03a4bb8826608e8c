import type { FunctionContext, Invocation } from '#runtime/function';
import { createSystemNotifier } from '#runtime/notifier';
import { repeatPasses } from '#runtime/passes';
import type { NotifierTask } from '#runtime/topology';

/** Tells people of their tasks, and reminds them. A missed invocation only delays messages: the next pass does everything that is due. */
export const create = ({ system, accepting }: FunctionContext) => {
  const notifier = createSystemNotifier(system);
  const { clock, config } = system;

  return ({ repeatForMs = 0 }: NotifierTask, { stopping }: Invocation): Promise<void> => {
    const pass = (): Promise<void> => notifier.pass(() => stopping.aborted || !accepting());
    return repeatPasses(pass, { repeatForMs, periodMs: config.supervisorPeriodMs, clock, stopping });
  };
};
