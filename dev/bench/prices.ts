/**
 * List prices of AWS in us-east-1, in US dollars, without free tiers, volume discounts and taxes.
 *
 * Prices marked `seen` come from stored copies of public pages, dated from 2020 to June 2026, mostly not from AWS. Prices marked
 * `unverified` are general knowledge. All were collected on the day below, and none was read from AWS's own page: check them there before
 * you rely on a figure.
 */
export const pricesAsOf = '2026-11-21';
export const pricesRegion = 'us-east-1';

interface Price {
  readonly dollars: number;
  /** The number of units that one price buys. */
  readonly per: number;
  readonly unit: string;
  readonly address: string;
  readonly source: 'seen' | 'unverified';
}

const million = 1_000_000;

export const prices = {
  dynamoDbWrite: {
    dollars: 0.625,
    per: million,
    unit: 'write request units, on demand, Standard table class',
    address: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    source: 'seen',
  },
  dynamoDbRead: {
    dollars: 0.125,
    per: million,
    unit: 'read request units, on demand, Standard table class',
    address: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    source: 'seen',
  },
  dynamoDbStorage: {
    dollars: 0.25,
    per: 1,
    unit: 'GB-month, Standard table class',
    address: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    source: 'unverified',
  },
  dynamoDbRecovery: {
    dollars: 0.2,
    per: 1,
    unit: 'GB-month of point-in-time recovery',
    address: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    source: 'unverified',
  },
  sqs: {
    dollars: 0.4,
    per: million,
    unit: 'requests to standard queues, 64 KB each',
    address: 'https://aws.amazon.com/sqs/pricing/',
    source: 'seen',
  },
  lambdaRequest: {
    dollars: 0.2,
    per: million,
    unit: 'requests',
    address: 'https://aws.amazon.com/lambda/pricing/',
    source: 'seen',
  },
  lambdaArm: {
    dollars: 0.0000133334,
    per: 1,
    unit: 'GB-seconds on Arm',
    address: 'https://aws.amazon.com/lambda/pricing/',
    source: 'seen',
  },
  httpApi: {
    dollars: 1,
    per: million,
    unit: 'requests to an HTTP API, 512 KB each',
    address: 'https://aws.amazon.com/api-gateway/pricing/',
    source: 'seen',
  },
  transferOut: {
    dollars: 0.09,
    per: 1,
    unit: 'GB to the internet',
    address: 'https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer',
    source: 'seen',
  },
  eventBridge: {
    dollars: 1,
    per: million,
    unit: 'custom events, 64 KB each',
    address: 'https://aws.amazon.com/eventbridge/pricing/',
    source: 'seen',
  },
  logs: {
    dollars: 0.5,
    per: 1,
    unit: 'GB taken in by CloudWatch Logs',
    address: 'https://aws.amazon.com/cloudwatch/pricing/',
    source: 'seen',
  },
  metric: {
    dollars: 0.3,
    per: 1,
    unit: 'custom metrics a month',
    address: 'https://aws.amazon.com/cloudwatch/pricing/',
    source: 'seen',
  },
  alarm: {
    dollars: 0.1,
    per: 1,
    unit: 'standard alarms on one metric a month',
    address: 'https://aws.amazon.com/cloudwatch/pricing/',
    source: 'unverified',
  },
  dashboard: {
    dollars: 3,
    per: 1,
    unit: 'dashboards a month',
    address: 'https://aws.amazon.com/cloudwatch/pricing/',
    source: 'seen',
  },
  trace: {
    dollars: 5,
    per: million,
    unit: 'traces recorded by X-Ray',
    address: 'https://aws.amazon.com/xray/pricing/',
    source: 'seen',
  },
  kmsRequest: {
    dollars: 0.03,
    per: 10_000,
    unit: 'requests with a symmetric key',
    address: 'https://aws.amazon.com/kms/pricing/',
    source: 'seen',
  },
  kmsKey: {
    dollars: 1,
    per: 1,
    unit: 'keys of the customer’s own a month',
    address: 'https://aws.amazon.com/kms/pricing/',
    source: 'seen',
  },
  secret: {
    dollars: 0.4,
    per: 1,
    unit: 'secrets a month',
    address: 'https://aws.amazon.com/secrets-manager/pricing/',
    source: 'seen',
  },
  stepFunctions: {
    dollars: 25,
    per: million,
    unit: 'state transitions of Standard workflows',
    address: 'https://aws.amazon.com/step-functions/pricing/',
    source: 'seen',
  },
} as const satisfies { readonly [name: string]: Price };

export const priceOf = (name: keyof typeof prices, quantity: number): number => {
  const { dollars, per } = prices[name];
  return (quantity * dollars) / per;
};
