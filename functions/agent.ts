import type { SQSEvent } from 'aws-lambda';
import { createAgent } from '../lib/agent.ts';
import { oneByOne } from '../lib/batch.ts';
import type { FunctionContext } from '../lib/function.ts';
import { Request } from '../lib/messages.ts';

/** Requests of one agent. A record that throws was not answered: it comes again, or the supervisor asks anew. */
export const create = ({ system, environment, stopping }: FunctionContext) => {
  const definition = system.definitions.agents.find(({ name }) => name === environment['REDRESS_AGENT']);
  if (!definition) throw new Error(`The app has no agent "${environment['REDRESS_AGENT']}".`);
  const serve = createAgent(definition, system);

  return (event: SQSEvent) =>
    oneByOne(event, (record) => serve(Request.parse(JSON.parse(record.body)), { signal: stopping }), system.telemetry);
};
