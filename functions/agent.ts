import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { createAgent } from '../lib/agent.ts';
import type { AgentDefinition } from '../lib/authoring/agent.ts';
import { oneByOne } from '../lib/batch.ts';
import { deliveryOf, groupIn, queueOf } from '../lib/delivery.ts';
import type { FunctionContext, Invocation } from '../lib/function.ts';
import { agentMessageIn } from '../lib/incoming.ts';
import { agentOfRequests } from '../lib/messages.ts';
import type { System } from '../lib/system.ts';

/** Requests of one agent, or of several. A record that throws was not answered: it comes again, or the supervisor asks anew. */
export const create = ({ system, environment }: FunctionContext) => {
  const names = (environment['REDRESS_AGENTS'] ?? '').split(',');
  const agents = new Map(names.map((name) => [name, createAgent(definitionOf(name, system), system)]));

  return (event: SQSEvent, { stopping }: Invocation) => {
    const serve = async (record: SQSRecord): Promise<void> => {
      const agent = agents.get(agentOfRequests(queueOf(record)) ?? '');
      if (!agent) throw new Error(`No agent of this function listens to ${queueOf(record)}.`);
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
