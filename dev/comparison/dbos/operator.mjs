import { DBOSClient } from '@dbos-inc/dbos-sdk';

/** The script that an operator writes: rewinds every failed workflow, through a queue with a rate limit. */
const client = await DBOSClient.create({ systemDatabaseUrl: process.env.DBOS_SYSTEM_DATABASE_URL });
const most = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
let rewound = 0;
for (let page = []; rewound < most; ) {
  page = await client.listWorkflows({ workflowName: 'parcel', status: 'ERROR', limit: Math.min(500, most - rewound) });
  if (page.length === 0) break;
  for (const { workflowID } of page) {
    await client.rewindWorkflow(workflowID, { queueName: 'again' });
    rewound += 1;
  }
}
process.stdout.write(`${rewound} rewound\n`);
await client.destroy();
