import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { AgentDefinition } from '#authoring/agent';
import { deliveryOf, groupIn, queueOf } from '#ports/delivery';
import { agentOfRequests } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import type { ReportTrouble } from '#roles/agent/trouble';
import { oneByOne } from '#roles/dead-letters/batch';
import { agentMessageIn } from '#roles/scheduler/incoming';
import type { FunctionContext, Invocation } from '#runtime/function';
import type { System } from '#runtime/system';

/**
 * Handles the requests of one or several agents. If an agent throws, the queue redelivers the request, or the supervisor requests the step
 * again.
 */
export const create = ({ system, environment }: FunctionContext) => {
  const names = (environment['REDRESS_AGENTS'] ?? '').split(',');
  const report: ReportTrouble = (trouble) => system.emit('operationFailed', { orderId: trouble.request.orderId, trouble });
  const agents = new Map(names.map((name) => [name, createAgent(definitionOf(name, system), { ...system, report })]));

  return (event: SQSEvent, { stopping }: Invocation) => {
    const agentFor = (record: SQSRecord) => agents.get(agentOfRequests(queueOf(record)) ?? '');
    for (const agent of new Set(event.Records.map(agentFor))) agent?.arrived();
    const serve = async (record: SQSRecord): Promise<void> => {
      const agent = agentFor(record);
      if (!agent) throw new Error(`No agent of this function consumes ${queueOf(record)}. Check REDRESS_AGENTS.`);
      const message = agentMessageIn(record.body);
      if (message.type === 'cancel') await agent.cancel(message);
      else await agent(message, { signal: stopping, redelivered: deliveryOf(record).receiveCount > 1, ...groupIn(record) });
    };
    return oneByOne(event, serve, system);
  };
};

function definitionOf(name: string, { definitions }: System): AgentDefinition {
  const definition = definitions.agents.find((agent) => agent.name === name);
  if (!definition) throw new Error(`The app has no agent "${name}".`);
  return definition;
}
