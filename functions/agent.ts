import type { SQSEvent } from 'aws-lambda';
import { createAgent } from '../lib/agent.ts';
import { oneByOne } from '../lib/batch.ts';
import type { FunctionContext } from '../lib/function.ts';
import { Request } from '../lib/messages.ts';

/** What is wrong with it is not said: the parsers quote what they were given, and it may be secret. */
function requestIn(body: string): Request {
  try {
    return Request.parse(JSON.parse(body));
  } catch {
    throw new Error('This is no request.');
  }
}

/** Requests of one agent. A record that throws was not answered: it comes again, or the supervisor asks anew. */
export const create = ({ system, environment, stopping }: FunctionContext) => {
  const definition = system.definitions.agents.find(({ name }) => name === environment['REDRESS_AGENT']);
  if (!definition) throw new Error(`The app has no agent "${environment['REDRESS_AGENT']}".`);
  const serve = createAgent(definition, system);

  return (event: SQSEvent) => oneByOne(event, (record) => serve(requestIn(record.body), { signal: stopping }), system.telemetry);
};
