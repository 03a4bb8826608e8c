import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { App } from '#authoring/workflow';
import type { AgentGrouping } from '#runtime/topology';
import type { AlarmThresholds } from './alarms.ts';
import type { BackupSettings } from './backup.ts';
import type { AgentCredentials } from './credentials.ts';
import type { Firewall } from './firewall.ts';
import type { EntranceProps } from './http-api.ts';
import type { FunctionSettings } from './lambda-function.ts';
import type { NotificationSettings } from './notifications.ts';
import type { OrderTableProps } from './order-table.ts';
import type { AuthorizerSettings, ExternalIssuer, SignIn } from './token-issuer.ts';
import type { VpcSettings } from './vpc.ts';

export interface OrderProcessingProps extends Pick<OrderTableProps, 'warmThroughput' | 'replicas'> {
  /** The workflows, agents and consumers: the default export of `entry`. */
  readonly app: App;
  /** Path of the module whose default export is `app`; it is bundled into each function. */
  readonly entry: string;
  /** The name of this deployment, unique in its account and region; queues are named `<name>-<queue>`. Default: `redress`. */
  readonly name?: string;
  /** The system's variables, as listed in `README.md`: `{ MAX_FAILURES: '5' }`. */
  readonly variables?: { readonly [name: string]: string };
  /** Settings by function name: `api`, `scheduler`, `agent-payment`, `consumer-expenses`. */
  readonly functions?: { readonly [name: string]: FunctionSettings };
  /** Environment variables of the functions of agents and consumers, such as the URLs of their services. */
  readonly agentEnvironment?: { readonly [name: string]: string };
  /** Credentials with which agents and consumers call their services: `call.credential('PAYMENT_KEY')`. Default: none. */
  readonly agentCredentials?: AgentCredentials;
  /** Further destinations that messages for people may go to, in addition to the topic `notifications`. Default: none. */
  readonly notifications?: NotificationSettings;
  /** The network in which functions run. Default: none, they reach public addresses only. */
  readonly vpc?: VpcSettings;
  /** Whether each agent has a function of its own, or all have one together (F-36). Default: `each`. */
  readonly agents?: AgentGrouping;
  /** The issuer whose tokens the API accepts. Default: a new user pool. */
  readonly issuer?: ExternalIssuer;
  /**
   * The check of tokens by API Gateway, before they reach the function. `{}` enables it; another `issuer` needs RSA keys and a discovery
   * document. Default: none, because app clients that are registered later would not pass.
   */
  readonly authorizer?: AuthorizerSettings;
  /** A domain of your own for the API. Default: none. */
  readonly domain?: EntranceProps['domain'];
  /** Closes the address that API Gateway gives, so that only `domain` is left. Default: false. */
  readonly disableExecuteApiEndpoint?: boolean;
  /** Limits of the API for each address of callers, by AWS WAF. It makes the API a REST API, and needs `domain`. Default: none. */
  readonly firewall?: Firewall;
  /** The pages to which people return from the user pool. Default: the console of `npm start` on localhost, and that of the API. */
  readonly signIn?: SignIn;
  /** Ids of clients that submit orders; each gets an app client of the user pool. Default: none. */
  readonly clients?: readonly string[];
  /**
   * The interval between runs of the supervisor, at least a minute. A run looks for late orders every few seconds (F-47). Default: a
   * minute.
   */
  readonly supervisorEvery?: Duration;
  /** Thresholds in place of the usual ones of the alarms; `false` creates no alarms. Default: the usual ones. */
  readonly alarms?: AlarmThresholds | false;
  /**
   * The replacement of functions by a deployment: all together, or first for a tenth of their runs, with a rollback if they fail. `canary`
   * needs the alarms. Default: `all-at-once`.
   */
  readonly deployments?: 'all-at-once' | 'canary';
  /** The Lambda instances of the account in this region ("Concurrent executions"). Queues use at most half of them. Default: 1,000. */
  readonly accountConcurrency?: number;
  /** Daily copies of the table with AWS Backup, in addition to its point-in-time recovery. Default: none. */
  readonly backup?: BackupSettings;
  /** The time after which finished orders are deleted. Default: never. */
  readonly retention?: Duration;
  /** The interval between scans of the whole table for orders that the index missed. A scan reads every item. Default: six hours. */
  readonly sweepEvery?: Duration;
  /** The time for which CloudWatch keeps the logs. Default: three months. */
  readonly logRetention?: RetentionDays;
  /** Enables X-Ray. At low load nearly every run is traced, which costs more than the runs. Default: false. */
  readonly tracing?: boolean;
  /** Limits of the API, in requests. Default: 1,000 a second, in bursts of 2,000. */
  readonly throttle?: EntranceProps['throttle'];
  /**
   * The policy that decides whether the table, the key, the audit, the user pool and the vault of backups are kept when the stack is
   * destroyed. Default: kept, except after a failed first deployment.
   */
  readonly removalPolicy?: RemovalPolicy;
  /** Whether nobody can delete the table and the user pool before this is switched off. Default: true if they are kept. */
  readonly deletionProtection?: boolean;
}
