import { openAws } from '#adapters/aws/open';
import { systemClock } from '#ports/clock';
import app from '../../../examples/orders/app.ts';
import { deployed } from '../../../test/adapters/aws/deployment.ts';
import { atEnd, createRandom, type Ending, site } from '../../../test/processes/support.ts';
import { type Emulator, startDynamoDbLocal, startDynoxide, startEventBus, startFauxqs } from '../../../test/support/emulators.ts';
import { type FaultKind, type FaultProxy, type FaultRates, faultKinds, startFaultProxy } from '../../../test/support/fault-proxy.ts';
import type { Ground } from './kills.ts';

const rates: FaultRates = { throttled: 0.02, conflict: 0.01, failed: 0.015, neverSent: 0.01, answerLost: 0.02, late: 0.01, twice: 0.015 };
/** Rates for queues. A received message that gets lost stays invisible for its whole visibility timeout, so losses are rare. */
const queueRates: FaultRates = { ...rates, answerLost: 0.01, twice: 0.01 };
const outages = { everyMs: 8000, longestMs: 2500 };

export const databases = { dynoxide: startDynoxide, dynamoDbLocal: startDynamoDbLocal } as const;
export type DatabaseName = keyof typeof databases;

/** Runs DynamoDB, SQS and EventBridge in their protocols, behind proxies that break calls, and counts the broken calls. */
export async function brokenCloud(ending: Ending, database: DatabaseName, seed: number): Promise<Ground & { landed(): Landed }> {
  const place = site(ending);
  const started = async <E extends Emulator>(emulator: Promise<E>): Promise<E> => {
    const each = await emulator;
    atEnd(ending, () => each.stop());
    return each;
  };
  const [dynamodb, sqs, bus] = await Promise.all([
    started(databases[database]()),
    started(startFauxqs()),
    started(startEventBus({ name: 'redress' })),
  ]);
  const endpoints = { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, eventbridge: bus.endpoint };
  const deployment = await deployed(app, endpoints);
  const { store, close } = openAws(deployment, { clock: systemClock, endpoints });
  atEnd(ending, close);

  const random = createRandom(seed);
  const proxies = await Promise.all(
    [dynamodb, sqs, bus].map((each) => started(startFaultProxy(each, each === dynamodb ? rates : queueRates, random))),
  );
  const [AWS_ENDPOINT_URL_DYNAMODB = '', AWS_ENDPOINT_URL_SQS = '', AWS_ENDPOINT_URL_EVENTBRIDGE = ''] = proxies.map(
    ({ endpoint }) => endpoint,
  );
  const outage = setInterval(() => proxies[Math.floor(random() * proxies.length)]?.goAway(outages.longestMs * random()), outages.everyMs);
  atEnd(ending, () => clearInterval(outage));
  const variables = {
    ...place.variables,
    ...deployment.variables,
    AWS_ENDPOINT_URL_DYNAMODB,
    AWS_ENDPOINT_URL_SQS,
    AWS_ENDPOINT_URL_EVENTBRIDGE,
  };
  return {
    place: { ...place, variables },
    store,
    // Broken calls are repeated, which takes time.
    settings: { STEP_COMPLETE_WITHIN_SECONDS: '4' },
    startsAgain: true,
    alerts: () =>
      new Set(
        bus.arrived
          .filter(({ DetailType }) => DetailType === 'Order In Error')
          .map(({ Detail = '{}' }) => (JSON.parse(Detail) as { orderId: string }).orderId),
      ),
    async calm() {
      clearInterval(outage);
      for (const proxy of proxies) proxy.calm();
    },
    landed: () => landedIn(proxies),
  };
}

/** The broken calls, by kind and by call. */
export interface Landed {
  readonly calls: number;
  readonly kinds: { readonly [kind in FaultKind]: { readonly [operation: string]: number } };
}

function landedIn(proxies: readonly FaultProxy[]): Landed {
  const counts = proxies.flatMap(({ landed }) => [...landed]);
  const of = (kind: FaultKind) =>
    Object.fromEntries(counts.filter(([name]) => name.startsWith(`${kind} `)).map(([name, count]) => [name.slice(kind.length + 1), count]));
  return {
    calls: proxies.reduce((sum, { calls }) => sum + calls(), 0),
    kinds: Object.fromEntries(faultKinds.map((kind) => [kind, of(kind)])) as Landed['kinds'],
  };
}
