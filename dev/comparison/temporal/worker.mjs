import { fileURLToPath } from 'node:url';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { NativeConnection, Worker } from '@temporalio/worker';

const { TEMPORAL_ADDRESS: address, INCIDENT_URL: url } = process.env;

async function label(number) {
  const { workflowExecution, activityId } = Context.current().info;
  // The key that Temporal's documents recommend: the same for each try of an activity, another for each run of a workflow.
  const key = `${workflowExecution.runId}/${activityId}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ number, key }) });
  if (answer.status === 409) throw ApplicationFailure.nonRetryable('The printer has no paper.', 'LabelRefused');
  if (!answer.ok) throw new Error(`The warehouse answers ${answer.status}.`);
  return answer.text();
}

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: 'parcels',
  workflowsPath: fileURLToPath(new URL('workflows.mjs', import.meta.url)),
  activities: { label },
});
await worker.run();
