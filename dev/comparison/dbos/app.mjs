import { createServer } from 'node:http';
import { DBOS } from '@dbos-inc/dbos-sdk';

const { INCIDENT_URL: url, APP_PORT: port, DBOS_SYSTEM_DATABASE_URL: systemDatabaseUrl } = process.env;

class LabelRefused extends Error {}

const label = DBOS.registerStep(
  async (number) => {
    // A rewound workflow keeps its id, so the key is the same for each try.
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ number, key: DBOS.workflowID }) });
    if (answer.status === 409) throw new LabelRefused('The printer has no paper.');
    if (!answer.ok) throw new Error(`The warehouse answers ${answer.status}.`);
    return answer.text();
  },
  { name: 'label', retriesAllowed: true, maxAttempts: 10, shouldRetry: (error) => !(error instanceof LabelRefused) },
);
const parcel = DBOS.registerWorkflow((number) => label(number), { name: 'parcel' });

DBOS.setConfig({ name: 'comparison', systemDatabaseUrl, applicationVersion: '1', logLevel: 'error', runAdminServer: false });
await DBOS.launch();
await DBOS.registerQueue('parcels');
await DBOS.registerQueue('again', { rateLimit: { limitPerPeriod: 100, periodSec: 1 } });

createServer((request, response) => {
  if (request.url === '/ready') return response.end('{}');
  const number = Number(new URL(request.url, 'http://localhost').searchParams.get('number'));
  DBOS.startWorkflow(parcel, { workflowID: `parcel-${number}`, queueName: 'parcels' })(number).then(
    () => response.end('{}'),
    (error) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(port), '127.0.0.1');
