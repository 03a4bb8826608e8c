import type { CliCommand } from '#cli/command';
import { alerts } from './alerts.ts';
import { audit } from './audit.ts';
import { auditVerify } from './audit-verify.ts';
import { breakerList } from './breaker-list.ts';
import { bulkPause, bulkResume, bulkStart, bulkStop } from './bulk-act.ts';
import { bulkItems, bulkList, bulkWatch } from './bulk-list.ts';
import { bulkPreview } from './bulk-preview.ts';
import { channelConsume } from './channel-consume.ts';
import { channelList } from './channel-list.ts';
import { channelClose, channelOpen } from './channel-open-close.ts';
import { channelReceive } from './channel-receive.ts';
import { channelSend } from './channel-send.ts';
import { channelStatus } from './channel-status.ts';
import { clientList } from './client-list.ts';
import { clientPut } from './client-put.ts';
import { completionOf } from './completion.ts';
import { deadLetterList } from './dead-letter-list.ts';
import { deadLetterShow } from './dead-letter-show.ts';
import { deadLetterDiscard, deadLetterResubmit } from './dead-letter-treat.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { exceptionGroup } from './exception-group.ts';
import { exceptionGroups } from './exception-groups.ts';
import { exceptionList } from './exception-list.ts';
import { exceptionRaise } from './exception-raise.ts';
import { exceptionShow } from './exception-show.ts';
import { groupList, groupPut } from './group-put.ts';
import { orderAnswer } from './order-answer.ts';
import { orderDependents } from './order-dependents.ts';
import { orderErase } from './order-erase.ts';
import { orderExport } from './order-export.ts';
import { orderGet } from './order-get.ts';
import { orderHistory } from './order-history.ts';
import { instructionCommands } from './order-instruct.ts';
import { orderList } from './order-list.ts';
import { orderLock, orderUnlock } from './order-lock.ts';
import { orderPlan } from './order-plan.ts';
import { orderRebuild } from './order-rebuild.ts';
import { orderSignal } from './order-signal.ts';
import { orderSubmit } from './order-submit.ts';
import { orderWatch } from './order-watch.ts';
import { overview } from './overview.ts';
import { reset } from './reset.ts';
import { restore } from './restore.ts';
import { ruleBackTest } from './rule-back-test.ts';
import { ruleList } from './rule-list.ts';
import { ruleDiff, rulePut } from './rule-put.ts';
import { ruleHistory, ruleShow } from './rule-show.ts';
import { rulePull, rulePush } from './rule-sync.ts';
import { ruleTest } from './rule-test.ts';
import { solutionList, solutionShow } from './solution-list.ts';
import { solutionDelete, solutionPut } from './solution-put.ts';
import { solutionRule } from './solution-rule.ts';
import { start } from './start.ts';
import { supervise } from './supervise.ts';
import { taskAssign, taskClaim, taskComment, taskRelease } from './task-act.ts';
import { taskHandOver } from './task-hand-over.ts';
import { taskList } from './task-list.ts';
import { taskResolve } from './task-resolve.ts';
import { taskShow } from './task-show.ts';
import { token } from './token.ts';
import { workflowCheck } from './workflow-check.ts';
import { workflowFaults } from './workflow-faults.ts';
import { workflowGraph } from './workflow-graph.ts';
import { workflowHistories } from './workflow-histories.ts';
import { workflowReview } from './workflow-review.ts';
import { workflowList, workflowShow } from './workflow-show.ts';

/** All commands, in the order of the help. */
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
  orderAnswer,
  orderPlan,
  orderDependents,
  ...Object.values(instructionCommands),
  orderErase,
  orderExport,
  orderLock,
  orderRebuild,
  orderUnlock,
  workflowGraph,
  workflowFaults,
  workflowCheck,
  workflowList,
  workflowShow,
  workflowHistories,
  workflowReview,
  overview,
  exceptionGroups,
  exceptionGroup,
  exceptionList,
  exceptionShow,
  exceptionRaise,
  taskList,
  taskShow,
  taskClaim,
  taskRelease,
  taskAssign,
  taskComment,
  taskResolve,
  taskHandOver,
  solutionList,
  solutionShow,
  solutionPut,
  solutionDelete,
  solutionRule,
  bulkPreview,
  bulkStart,
  bulkWatch,
  bulkPause,
  bulkResume,
  bulkStop,
  bulkItems,
  bulkList,
  alerts,
  breakerList,
  channelStatus,
  channelList,
  channelClose,
  channelOpen,
  channelReceive,
  channelSend,
  channelConsume,
  deadLetterList,
  deadLetterShow,
  deadLetterResubmit,
  deadLetterDiscard,
  ruleList,
  ruleShow,
  rulePut,
  ruleDiff,
  rulePush,
  rulePull,
  ruleTest,
  ruleBackTest,
  ruleHistory,
  groupPut,
  groupList,
  clientPut,
  clientList,
  audit,
  auditVerify,
  doctor,
  completionOf(() => commands),
  supervise,
  restore,
  reset,
];
