import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import { systemClock } from '#ports/clock';
import { clientsAt, createTable } from '../../test/adapters/aws/support.ts';
import { type Raced, raceOfClients, raceOfProcesses } from '../../test/linearizability/race.ts';
import { startDynoxide } from '../../test/support/emulators.ts';
import { temporaryFolder } from '../../test/support/folders.ts';
import { type Figure, measured } from './figure.ts';

const racers = 32;
const processes = 4;
const sizes = { full: { embedded: 1000, dynamodb: 100 }, short: { embedded: 30, dynamodb: 5 } } as const;

/** G11: many hosts claim the same order at the same time, on both stores. */
export const figure: Figure = {
  shows: 'exactly one of 32 hosts that claim an order at the same moment gets it, and every history is linearizable',
  async measure({ form, progress }) {
    const embedded = await onEmbedded(sizes[form].embedded);
    progress(`embedded: ${embedded.winners} winners of ${embedded.orders} orders`);
    const dynamodb = await onDynamoDb(sizes[form].dynamodb);
    progress(`dynamodb: ${dynamodb.winners} winners of ${dynamodb.orders} orders`);
    return measured([...missed('embedded', embedded), ...missed('dynamodb', dynamodb)], {
      embedded: { processes, ...counts(embedded) },
      dynamodb: { emulator: 'dynoxide', ...counts(dynamodb) },
    });
  },
};

/** Runs real processes on one data folder. Each racer has a connection of its own. */
async function onEmbedded(orders: number): Promise<Raced> {
  const folder = temporaryFolder();
  try {
    return await raceOfProcesses(folder.path, { orders, processes, racersEach: racers / processes });
  } finally {
    folder.remove();
  }
}

/** Runs separate clients in one process, over HTTP. */
async function onDynamoDb(orders: number): Promise<Raced> {
  const emulator = await startDynoxide();
  const clients = Array.from({ length: racers }, () => clientsAt({ dynamodb: emulator.endpoint }).dynamodb);
  try {
    const [first] = clients;
    if (!first) throw new Error('There is no client that could claim an order.');
    const table = await createTable(first);
    const stores = clients.map((client) => dynamoDbStore({ client: DynamoDBDocumentClient.from(client), table, clock: systemClock }));
    return await raceOfClients(stores, orders);
  } finally {
    for (const client of clients) client.destroy();
    await emulator.stop();
  }
}

const counts = ({ wrong, notLinearizable, ...raced }: Raced) => ({
  ...raced,
  linearizable: raced.orders - notLinearizable.length,
});

/** A race needs losers: on average, at least three claims of each order must lose. */
const missed = (store: string, { orders, winners, losers, wrong, notLinearizable }: Raced): readonly string[] => [
  ...(winners === orders ? [] : [`${store}: ${winners} winners of ${orders} orders`]),
  ...wrong.slice(0, 3).map((id) => `${store}: not exactly one host has won order ${id}`),
  ...notLinearizable.slice(0, 3).map((id) => `${store}: the history of ${id} is not linearizable`),
  ...(losers >= orders * 3 ? [] : [`${store}: only ${losers} claims lost, so the hosts did not claim at the same time`]),
];
