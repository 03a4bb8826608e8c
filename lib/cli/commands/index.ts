import type { CliCommand } from '../command.ts';
import { alerts } from './alerts.ts';
import { breakerList } from './breaker-list.ts';
import { channelList } from './channel-list.ts';
import { channelReceive } from './channel-receive.ts';
import { channelStatus } from './channel-status.ts';
import { channelClose, channelOpen } from './channel-turn.ts';
import { clientList } from './client-list.ts';
import { clientPut } from './client-put.ts';
import { demo } from './demo.ts';
import { orderAnswer } from './order-answer.ts';
import { orderCancel, orderCompensate, orderMarkCompensated, orderTerminate } from './order-end.ts';
import { orderGet } from './order-get.ts';
import { orderHistory } from './order-history.ts';
import { orderList } from './order-list.ts';
import { orderPlan } from './order-plan.ts';
import { orderResubmit } from './order-resubmit.ts';
import { orderSignal } from './order-signal.ts';
import { orderSubmit } from './order-submit.ts';
import { orderResume, orderSuspend } from './order-suspend.ts';
import { orderWatch } from './order-watch.ts';
import { reset } from './reset.ts';
import { setAsideList } from './set-aside-list.ts';
import { setAsideShow } from './set-aside-show.ts';
import { setAsideDiscard, setAsideResubmit } from './set-aside-treat.ts';
import { start } from './start.ts';
import { supervise } from './supervise.ts';
import { token } from './token.ts';
import { workflowCheck } from './workflow-check.ts';
import { workflowFaults } from './workflow-faults.ts';
import { workflowGraph } from './workflow-graph.ts';

/** Every command, in the order in which the help shows them. */
export const commands: readonly CliCommand[] = [
  start,
  demo,
  token,
  orderSubmit,
  orderGet,
  orderList,
  orderWatch,
  orderHistory,
  orderSignal,
  orderResubmit,
  orderAnswer,
  orderCancel,
  orderPlan,
  orderCompensate,
  orderMarkCompensated,
  orderTerminate,
  orderSuspend,
  orderResume,
  workflowGraph,
  workflowFaults,
  workflowCheck,
  alerts,
  breakerList,
  channelStatus,
  channelList,
  channelClose,
  channelOpen,
  channelReceive,
  setAsideList,
  setAsideShow,
  setAsideResubmit,
  setAsideDiscard,
  clientPut,
  clientList,
  supervise,
  reset,
];
